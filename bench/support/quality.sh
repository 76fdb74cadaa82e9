# Shared by the quality scripts, which source it before they change directory.

# take_arguments ARGUMENTS...: sets `data` to the absolute path of the first argument or of HEED_DATA, and
# `options` to the options of heed train; --minutes N becomes --after Nm.
take_arguments() {
  data=${HEED_DATA:-}
  if [ $# -gt 0 ] && [[ $1 != --* ]]; then data=$1; shift; fi
  [ -z "$data" ] || data=$(cd "$data" && pwd)
  options=()
  while [ $# -gt 0 ]; do
    case $1 in
      --minutes) options+=(--after "${2:?--minutes: expected a number}m"); shift 2 ;;
      *) options+=("$1"); shift ;;
    esac
  done
}

# usage: prints the script's usage lines and exits.
usage() { sed -n "s|^#   \(bench/\)|usage: \1|p" "$0" >&2; exit 2; }

# require_data: exits with the usage if there is no data folder.
require_data() { [ -n "$data" ] || usage; }

# default NAME VALUE: sets an option of heed train, unless the caller gave it.
default() { [[ " ${options[*]} " == *" $1"[\ =]* ]] || options+=("$1" "$2"); }

# trained_for MODEL: prints the training time of a model.
trained_for() {
  python3 - "$1/training/metrics.jsonl" <<'PYTHON'
import json, sys
last = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "update"][-1]
print(f"trained for {last['seconds'] / 60:.1f} minutes, {last['update']} updates")
PYTHON
}
