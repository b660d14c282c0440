#!/bin/bash
# What a test needs of systemctl where no systemd runs: starts the services that are named, with the user, the environment,
# the credentials and the folders of their units. It confines nothing, and restarts nothing.
set -eu
case "$1" in start | restart | enable) shift ;; *) exit 0 ;; esac
for name; do
  case "$name" in --now | *.timer) continue ;; esac
  if [ "$name" = redis-server ]; then
    setpriv --reuid redis --regid redis --clear-groups redis-server /etc/redis/redis.conf --daemonize no > /dev/null &
    until (: < /dev/tcp/127.0.0.1/6379) 2> /dev/null; do sleep 0.05; done
    continue
  fi
  instance=${name#*@} credentials=/run/credentials/$name
  case "$name" in *@*) file=/etc/systemd/system/${name%@*}@.service ;; *) file=/etc/systemd/system/$name.service ;; esac
  get() { sed -n "s/^$1=//p" "$file" | sed "s#%i#$instance#g; s#%d#$credentials#g; s#%S#/var/lib#g; s#%L#/var/log#g"; }
  user=$(get User) caps=''
  case "$(get AmbientCapabilities)" in CAP_NET_BIND_SERVICE) caps='--inh-caps +net_bind_service --ambient-caps +net_bind_service' ;; esac
  mkdir -p "$credentials"
  get LoadCredential | while IFS=: read -r id source; do cp "$source" "$credentials/$id"; done
  for folder in $(get StateDirectory | sed 's#[^ ]*#/var/lib/&#g') $(get LogsDirectory | sed 's#[^ ]*#/var/log/&#g'); do
    install -d -o "${user:-nobody}" "$folder"
  done
  chown -R "${user:-nobody}" "$credentials"
  (
    set -a
    for file_of in $(get EnvironmentFile); do . "$file_of"; done
    while read -r line; do declare -x "$line"; done < <(get Environment)
    exec setpriv --reuid "${user:-nobody}" --regid "${user:-nogroup}" --clear-groups $caps $(get ExecStart)
  ) > "/var/log/$name.log" 2>&1 &
  if [ "$(get Type)" = oneshot ]; then wait $! || { cat "/var/log/$name.log" >&2; exit 1; }; fi
done
