#!/bin/sh
# openapi-generator 7.25.0, kotlin (jvm-okhttp4, moshi): a property `{ "type": "number" }` becomes a BigDecimal, and the adapter
# that comes with the client writes it as a JSON string: 5 is sent as "5", which the schema forbids. With `"format": "double"`
# it is a Double, and sent as a number.
# Met by: an API with amounts; clients of every other language send the same document's numbers as numbers.
# Source: modules/openapi-generator/src/main/resources/kotlin-client, BigDecimalAdapter; JSON Schema 2020-12, 6.1.1 (type).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > openapi.json <<'D'
{ "openapi": "3.1.1", "info": { "title": "t", "version": "1" }, "paths": {}, "components": { "schemas": { "Plan": { "type":
  "object", "properties": { "plain": { "type": "number" }, "double": { "type": "number", "format": "double" } } } } } }
D
mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
java -jar openapi-generator-cli-7.25.0.jar generate -i openapi.json -g kotlin -o client > log 2>&1
cd client/src/main/kotlin/org/openapitools/client
grep -hE 'val (plain|double):|fun toJson' models/Plan.kt infrastructure/BigDecimalAdapter.kt
grep -q 'val plain: java.math.BigDecimal' models/Plan.kt && grep -q 'val `\?double`\?: kotlin.Double' models/Plan.kt
grep -q 'fun toJson(value: BigDecimal): String' infrastructure/BigDecimalAdapter.kt
