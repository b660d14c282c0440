#!/bin/sh
# podman-compose 1.3.0 (Debian 13's): a health check `[CMD, program, argument]` becomes a command line for /bin/sh, although
# CMD asks for none; 1.6.0 passes the words. --dry-run prints what would be run; a script that answers `[]` stands in for
# Podman.
# Met by: an image without a shell, which is healthy under Docker and forever unhealthy under podman-compose, so that
# another service's `depends_on: { condition: service_healthy }` never comes true.
# Source: the Compose specification, `healthcheck`; podman-compose pull request 1214.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'services: { web: { image: "example.com/web:1", healthcheck: { test: [CMD, /bin/check, --fast] } } }\n' > compose.yaml
printf '#!/bin/sh\necho "[]"\n' > podman && chmod +x podman
asked() {
  python3 -m venv "v$1"
  "v$1/bin/pip" install -q "podman-compose==$1"
  "v$1/bin/podman-compose" --verbose --dry-run --podman-path ./podman up -d 2>&1 | grep -oE -- "--health(check-command|-cmd) .*" | head -n 1
}
old=$(asked 1.3.0) new=$(asked 1.6.0)
printf '1.3.0: %s\n1.6.0: %s\n' "$old" "$new"
case $old in *'/bin/sh -c'*) ;; *) exit 1 ;; esac
case $new in *'/bin/sh'* | '') exit 1 ;; esac
