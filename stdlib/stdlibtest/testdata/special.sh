#!/bin/bash
# special.sh: makes special.txt anew, from real Stan. As root, with STANREF_ROOT set
# to the Debian root that the reference harness makes. Some minutes for each program
# of LINES_PER functions; what the installed version of Stan does not know is left out.
set -e
: "${STANREF_ROOT:?}"
here=$(cd "$(dirname "$0")" && pwd)
W=$STANREF_ROOT/stanref/tmp.special.$$; mkdir -p $W; trap 'rm -rf $W' EXIT
I=/stanref/tmp.special.$$
(cd "$here/.." && go test -run WriteSpecial -special $W .)
cp $here/special_main.cpp $W/
IN="chroot $STANREF_ROOT bash -c"
CC=". /stanref/flags.sh; \$CXX -std=gnu++17 -O0 -pthread -w \$CPPFLAGS"
$IN "$CC -c $I/special_main.cpp -o $I/main.o"
split -l ${LINES_PER:-40} -d -a 3 $W/lines.txt $W/part.
head='data { array[9] int n; vector[8] s; }
transformed data { int which = n[9]; }
parameters { vector[8] u; }
model {
  vector[8] x = u + s;'
one() { # one part: programs shrink until stanc accepts them
  p=$1; n=$(basename $p)
  while :; do
    { echo "$head"; cat $p; echo "}"; } > $W/$n.stan
    rm -f $W/$n.cpp $W/$n.stanc_err
    $IN "cd /tmp && Rscript /stanref/stanc.R $I $I/$n.stan" || true
    [ -e $W/$n.cpp ] && break
    line=$(grep -o 'line [0-9]*, column' $W/$n.stanc_err | head -1 | tr -dc 0-9)
    [ -n "$line" ] || { cat $W/$n.stanc_err; exit 1; }
    sed -n "${line}p" $W/$n.stan | sed 's/^/not in this Stan:/'
    sed -i "$((line - 5))d" $p
  done
  sed -n 's/.*which == \([0-9]*\)).*/\1/p' $p > $W/$n.keep
  awk 'NR==FNR {k[$1]=1; next} $1 in k' $W/$n.keep $W/calls.txt > $W/$n.calls
  $IN "$CC -c $I/$n.cpp -o $I/$n.o && \$CXX -pthread -o $I/$n.exe $I/$n.o $I/main.o \$LDLIBS"
  $IN "$I/$n.exe $I/$n.calls" > $W/$n.out
  echo "$n: $(wc -l < $W/$n.out) results"
}
export -f one; export W I IN CC head
ls $W/part.* | grep '/part.[0-9]*$' | xargs -P ${JOBS:-1} -n 1 bash -c 'one "$0"'
{
  echo "# Written by special.sh: function, arguments, and Stan's value with derivatives by the real arguments."
  cat $W/part.*.out | awk -v names=$W/names.txt 'BEGIN {while ((getline < names) > 0) name[$1] = $2}
    {split($0, half, " : "); n = split(half[1], w, " "); k = (n - 1) / 2; s = name[w[1]]; for (i = 2 + k; i <= n; i++) s = s " " w[i];
     if (half[2] ~ /^error/) half[2] = "error"; print s " " half[2]}' | sort -s -k1,1
} > "$here/special.txt"
