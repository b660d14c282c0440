#!/bin/sh
# oapi-codegen 2.8.2: of an enumeration that may be null, `{"type": ["string", "null"], "enum": ["daily", null]}`, the generated
# Go has a further constant whose text is "<nil>", which its `Valid` accepts, and which a server never sends or takes. The field
# itself is a pointer, so null still arrives as nil.
# Met by: whoever offers the generated constants in a form, or validates with them: JSON Schema requires null to be in the list,
# so a document cannot leave it out.
# Source: JSON Schema 2020-12, validation, 6.1.2 (enum); https://github.com/oapi-codegen/oapi-codegen
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > openapi.json <<'D'
{ "openapi": "3.1.1", "info": { "title": "t", "version": "1" }, "paths": {}, "components": { "schemas": {
  "Plan": { "type": "object", "properties": { "reset": { "type": ["string", "null"], "enum": ["daily", null] } } } } } }
D
go mod init example.com/client > /dev/null 2>&1
go get -tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 > /dev/null 2>&1
echo 'output-options: { skip-prune: true }' > config.yaml
go tool oapi-codegen -config config.yaml -generate types -package client -o client.go openapi.json
grep -E 'PlanReset = "|Reset .*json' client.go
grep -q '= "<nil>"' client.go
