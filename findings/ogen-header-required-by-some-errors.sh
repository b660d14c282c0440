#!/bin/sh
# ogen 1.25.0: where two error answers of one operation share their schema and a header, and only one of them has the header as
# `required`, the client that it generates does not compile: "wrapper.RetryAfter.SetTo undefined (type string …)". The answers
# have one struct in common, whose field is as the first of them says, and each has a decoder that is as itself says.
# Met by: a document that says `Retry-After` is always there with 429 and sometimes with 503, both with the one error schema.
# Source: https://github.com/ogen-go/ogen, response wrappers; OpenAPI 3.1, Header Object, `required`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
answer() { printf '{"description":"x","headers":{"Retry-After":{"required":%s,"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}}' "$1"; }
document() { # REQUIRED-OF-429 REQUIRED-OF-503
  printf '{"openapi":"3.1.1","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"operationId":"get","responses":{"200":{"description":"x"},"429":%s,"503":%s}}}},"components":{"schemas":{"Error":{"type":"object","properties":{"code":{"type":"integer"}}}}}}' "$(answer "$1")" "$(answer "$2")"
}
go mod init example.com/client > /dev/null 2>&1
go get -tool github.com/ogen-go/ogen/cmd/ogen@v1.25.0 > /dev/null 2>&1
builds() {
  document "$1" "$2" > openapi.json
  go tool ogen --clean --target client --package client openapi.json > log 2>&1 && go mod tidy > log 2>&1 || { cat log; exit 2; }
  go build ./client > log 2>&1 && echo yes || grep -m 1 RetryAfter log
}
alike=$(builds true true) unlike=$(builds true false)
printf 'both require it: %s\nonly one requires it: %s\n' "$alike" "$unlike"
[ "$alike" = yes ]
case $unlike in *RetryAfter.SetTo*) ;; *) exit 1 ;; esac
