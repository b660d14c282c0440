# For the scripts of this folder: counts what holds, and says what a check printed that never came true.
failed=0 passed=0
said=$(mktemp)
# check WHAT COMMAND…, which has a minute to come true; then a row.
check() {
  what=$1; shift; tries=0
  until "$@" > "$said" 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { echo "FAILED $what: $(tail -n 3 "$said")"; failed=$((failed + 1)); return 0; }
    sleep 1
  done
  passed=$((passed + 1)); echo "ok     $what"
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
ended() { rm -f "$said"; echo "$passed passed, $failed failed"; [ "$failed" -eq 0 ]; }
