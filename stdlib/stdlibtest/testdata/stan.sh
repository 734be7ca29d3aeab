#!/bin/bash
# stan.sh: makes stan.json anew, from real Stan. As root, with STANREF_ROOT set
# to the Debian root that the reference harness makes. About 20 minutes.
#
# go test -run WriteStanCases -stan DIR writes the cases as lines of a Stan
# program; here they become programs of 100 cases each; what the installed
# version of Stan does not know is left out. A second go test -run
# WriteStanCases -stan DIR collects the results. NAMES, a regular expression,
# restricts it to some functions, whose results replace those that there are.
# With matrices a program of 100 cases takes gigabytes to compile: LINES_PER=25.
set -e
: "${STANREF_ROOT:?}"
here=$(cd "$(dirname "$0")" && pwd)
W=$STANREF_ROOT/stanref/tmp.cases.$$; mkdir -p $W; trap 'rm -rf $W' EXIT
I=/stanref/tmp.cases.$$
DIR=${DIR:-$W/go}; mkdir -p $DIR
(cd "$here/.." && rm -f $DIR/results.txt && go test -run WriteStanCases -stan $DIR -stannames "${NAMES:-}" .)
cp $DIR/points.txt $here/stan_main.cpp $W/
IN="chroot $STANREF_ROOT bash -c"
CC=". /stanref/flags.sh; \$CXX -std=gnu++17 -O0 -pthread -w \$CPPFLAGS" # -O3 takes minutes per program
$IN "$CC -c $I/stan_main.cpp -o $I/main.o"
split -l ${LINES_PER:-100} -d -a 3 $DIR/lines.txt $W/part.
one() { # one part: programs shrink until stanc accepts them
  p=$1; n=$(basename $p)
  while :; do
    { cat $DIR/head.txt $p; echo "}"; } > $W/$n.stan
    rm -f $W/$n.cpp $W/$n.stanc_err
    $IN "cd /tmp && Rscript /stanref/stanc.R $I $I/$n.stan" || true
    [ -e $W/$n.cpp ] && break
    line=$(grep -o 'line [0-9]*, column' $W/$n.stanc_err | head -1 | tr -dc 0-9)
    [ -n "$line" ] || { cat $W/$n.stanc_err; exit 1; }
    sed -n "${line}p" $W/$n.stan | sed 's/^.*wsum(\([a-zA-Z0-9_]*\)(.*/not in this Stan: \1/'
    f=$(sed -n "${line}p" $W/$n.stan | sed 's/^.*target += wsum(\([a-zA-Z0-9_]*\)(.*/\1/')
    at=$((line - $(wc -l < $DIR/head.txt)))
    # a function that is unknown goes with all its lines, a form that is not listed alone
    if grep -q "is not in scope\|identifier '$f'\|undeclared\|not a valid\|no such" $W/$n.stanc_err; then grep -v "wsum($f(" $p > $p.new; else sed "${at}d" $p > $p.new; fi
    mv $p.new $p
  done
  first=$(sed -n 's/.*which == \([0-9]*\)).*/\1/p' $p | head -1); last=$(sed -n 's/.*which == \([0-9]*\)).*/\1/p' $p | tail -1)
  $IN "$CC -c $I/$n.cpp -o $I/$n.o && \$CXX -pthread -o $I/$n.exe $I/$n.o $I/main.o \$LDLIBS"
  $IN "$I/$n.exe $I/points.txt $first $last" > $W/$n.all
  # only the cases that the program has
  sed -n 's/.*which == \([0-9]*\)).*/\1/p' $p > $W/$n.keep
  awk 'NR==FNR {k[$1]=1; next} $1 in k' $W/$n.keep $W/$n.all > $W/$n.out
  echo "$n: $(wc -l < $W/$n.out) results"
}
export -f one; export W I DIR IN CC
ls $W/part.* | grep -v '\.\(stan\|cpp\)$' | xargs -P ${JOBS:-1} -n 1 bash -c 'one "$0"'
cat $W/part.*.out > $DIR/results.txt
(cd "$here/.." && go test -run WriteStanCases -stan $DIR -stannames "${NAMES:-}" .)
