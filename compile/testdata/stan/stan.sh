#!/bin/bash
# stan.sh: makes the figures beside it anew, from Stan 2.32.2, for every .stan
# file here. STANREF is the reference harness's run.sh, which takes a model, its
# data and the name of the result; see there for what else it needs. A minute
# for each model.
set -e
: "${STANREF:?}"
here=$(cd "$(dirname "$0")" && pwd)
D=$(mktemp -d); trap 'rm -rf $D' EXIT
for m in "$here"/*.stan; do
  n=$(basename "$m" .stan)
  NUTS_LIMIT=0 "$STANREF" "$m" "$here/$n.data.json" "$D/$n.json"
done
cd "$here/../.." && go test -run TestStanTransforms -stan "$D" .
