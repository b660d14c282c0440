#!/bin/bash
# Generates a client of the API with each tool, compiles it with a program of clients/, and runs that against a demo: it lists
# the interns and creates a guardrail. A row for each tool; ends with 1 if a row is not whole. Half an hour the first time.
#
#   bash test/lab/operators/clients.sh [TOOL…]           DOCUMENT=openapi.json: another document than that of the demo
#
# Needs Node, Python, Go, Java with Maven, and Rust. Not here: kiota, whose package of npm downloads a .NET program; Fern, whose
# generators are container images; progenitor 0.15.1, which reads OpenAPI 3.0 alone.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
export CARGO_TARGET_DIR=$root/node_modules/.cache/ori-clients/cargo PATH=$root/node_modules/.bin:$PATH
cache=$root/node_modules/.cache/ori-clients work=$(mktemp -d)
mkdir -p "$cache"
trap 'kill "$demo"; wait "$demo"; rm -rf "$work"' EXIT
(cd "$work" && ORI_PORT=0 HOME="$work" exec node "$root/services/standalone/src/main.ts") > "$work/demo.log" & demo=$!
until grep -q '^ready: ' "$work/demo.log"; do kill -0 "$demo" && sleep 0.2 || exit; done
state() { node -p "JSON.parse(require('fs').readFileSync('$work/.ori/standalone.json')).$1"; }
export ORI_BASE_URL=$(state baseUrl) ORI_API_KEY=$(state apiKey) ORI_MANAGEMENT_KEY=$(state managementKey)
curl -sf "$ORI_BASE_URL/openapi.json" -o "$work/openapi.json"
[ -z "${DOCUMENT:-}" ] || cp "$DOCUMENT" "$work/openapi.json"
document=$work/openapi.json

# openapi-generator
generator() { # NAME [PROPERTIES]
  mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory="$cache" &&
    java -jar "$cache/openapi-generator-cli-7.25.0.jar" generate -i "$document" -g "$1" -o client ${2:+"--additional-properties=$2"}
}
# The programs of npm, and the compiler for what they write.
npm_tools='@hey-api/openapi-ts@0.99.0 openapi-fetch@0.17.0 openapi-to-postmanv2@6.3.3 openapi-typescript@7.13.0
  orval@8.38.0 newman@6.2.2 swagger-typescript-api@13.13.0 typescript@5.9.3 @types/node@24.19.4'
npm_tool() {
  [ -e "$cache/npm/installed" ] || npm install -s --no-audit --no-fund --ignore-scripts --prefix "$cache/npm" $npm_tools || return
  touch "$cache/npm/installed" && ln -s "$cache/npm/node_modules" . && "node_modules/.bin/$@"
}
typescript() {
  cp "$here/clients/$tool.ts" use.ts && ln -sfn "$cache/npm/node_modules" . &&
    node_modules/.bin/tsc --strict --skipLibCheck --target es2023 --module nodenext --types node --outDir out use.ts
}
python_with() { # PACKAGE…
  python3 -m venv "$cache/$tool" && "$cache/$tool/bin/pip" install -q "$@"
}
golang() {
  mkdir use && cp "$here/clients/$tool.go" use/main.go && sed -i 's|^module .*|module ori.example/client|' go.mod &&
    go mod tidy && go build -o run ./use
}
go_tool() { # PACKAGE@VERSION ARGUMENT…
  go mod init ori.example/client && go get -tool "$1" && go tool "${@:2}"
}

generate_typescript-fetch() { npm_tool tsc --version && generator typescript-fetch; }
generate_openapi-typescript() { npm_tool openapi-typescript "$document" -o client/index.ts; }
generate_hey-api() { npm_tool openapi-ts -i "$document" -o client; }
generate_orval() {
  printf 'module.exports = { ori: { input: "%s", output: { target: "client/index.ts", client: "fetch", baseUrl: "%s" } } }' \
    "$document" "$ORI_BASE_URL" > orval.config.cjs && npm_tool orval --config orval.config.cjs
}
generate_swagger-typescript-api() { npm_tool swagger-typescript-api generate -p "$document" -o client -n index.ts; }
for each in typescript-fetch openapi-typescript hey-api orval swagger-typescript-api; do
  eval "compile_$each() { typescript; }; run_$each() { node out/use.js; }"
done

generate_python() { generator python packageName=ori_client; }
compile_python() { python_with ./client mypy==2.3.0 && "$cache/python/bin/mypy" "$here/clients/python.py"; }
generate_openapi-python-client() {
  python_with openapi-python-client==0.29.1 && PATH=$cache/$tool/bin:$PATH openapi-python-client generate --path "$document" --meta none --output-path ori_client
}
compile_openapi-python-client() { python3 -m compileall -q ori_client; }
for each in python openapi-python-client; do
  eval "run_$each() { PYTHONPATH=. '$cache/$each/bin/python' '$here/clients/$each.py'; }"
done

generate_go() { generator go packageName=ori && mv client/* . && rm -r test; }
generate_oapi-codegen() {
  go_tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 oapi-codegen -generate types,client -package ori -o client.go "$document"
}
generate_ogen() { # What it says itself: it knows no scheme but bearer and basic.
  echo 'generator: { ignore_not_implemented: ["http security scheme"] }' > ogen.yml
  go_tool github.com/ogen-go/ogen/cmd/ogen@v1.25.0 ogen --config ogen.yml --target . --package ori "$document"
}
for each in go oapi-codegen ogen; do eval "compile_$each() { golang; }; run_$each() { ./run; }"; done

generate_java() { generator java; }
generate_kotlin() { generator kotlin && cp "$here/clients/kotlin.pom.xml" client/pom.xml; }
jvm() { # FOLDER FILE
  cp "$here/clients/$tool.${2#*.}" "client/src/main/$1/$2" && cd client &&
    mvn -q -B -Dmaven.test.skip compile dependency:build-classpath -Dmdep.outputFile=libraries
}
compile_java() { jvm java Use.java; }
compile_kotlin() { jvm kotlin Use.kt; }
run_java() { java -cp "client/target/classes:$(cat client/libraries)" Use; }
run_kotlin() { java -cp "client/target/classes:$(cat client/libraries)" UseKt; }

generate_rust() { generator rust packageName=ori_client; }
compile_rust() {
  mkdir client/examples && cp "$here/clients/rust.rs" client/examples/use.rs && cd client &&
    cargo add -q --dev tokio@1 --features macros,rt-multi-thread && cargo build -q --example use
}
run_rust() { "$CARGO_TARGET_DIR/debug/examples/use"; }

# Two requests of the collection are sent as they are, one of them twice.
generate_postman() {
  npm_tool openapi2postmanv2 -s "$document" -o collection.json -O folderStrategy=Tags,parametersResolution=Example,enableOptionalParameters=false
}
compile_postman() { cp "$here/clients/postman.cjs" .; }
run_postman() { node postman.cjs; }

all='typescript-fetch python go java rust kotlin openapi-typescript hey-api orval swagger-typescript-api openapi-python-client
  oapi-codegen ogen postman'
[ $# -gt 0 ] || set -- $all
passed=0 failed=0
printf '%-24s %-10s %-9s %-6s %s\n' tool generates compiles lists creates
step() { # NAME
  (cd "$work/$tool" && "$1_$tool") > "$work/$tool/$1.log" 2>&1 < /dev/null
}
for tool; do
  mkdir "$work/$tool" && row=(no - - -)
  if step generate; then
    row=(yes no - -)
    if step compile; then
      step run
      row=(yes yes no no)
      grep -qE '^lists .*analytical' "$work/$tool/run.log" && row[2]=yes
      grep -qiE '^creates .*(daily|monthly)' "$work/$tool/run.log" && row[3]=yes
    fi
  fi
  printf '%-24s %-10s %-9s %-6s %s\n' "$tool" "${row[@]}"
  [ "${row[*]}" = 'yes yes yes yes' ] && passed=$((passed + 1)) && continue
  failed=$((failed + 1))
  tail -n 5 "$(ls -t "$work/$tool"/*.log | head -n 1)" | cut -c1-300 | sed 's/^/    /'
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
