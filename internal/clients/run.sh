#!/usr/bin/env bash
# Runs the front ends of CmdStan on ppl, in a separate Debian root: CmdStanPy's and
# CmdStanR's own tests, models of brms, and the pages for R and Python.
#
#   SOURCES=DIR internal/clients/run.sh ROOT [STEP…]
#
# ROOT is a folder for the Debian root, which is made if there is none (as root, by
# debootstrap, with the mirror that the machine's apt uses; 3 GB, a few minutes). SOURCES
# has the published sources of the front ends in the folders cmdstanpy, cmdstanr and
# stanio, and for ArviZ in arviz (0.23), arviz-base, arviz-stats and xarray-einstats. The
# steps, all by default:
#
#   python   CmdStanPy's tests
#   r        CmdStanR's tests, with its model methods by libppl; r=NAME… only some files, such as r=csv,model-sample
#   brms     models of brms, through cmdstanr; brms=NAME only those that begin so
#   readers  files of every sampler, and of PPL_ENGINE, read by CmdStanPy, CmdStanR and rstan
#   arviz    ArviZ, old and new, reads CSV and Zarr; left out without its sources
#   pages    doc/how-to/r.md and doc/how-to/python.md, their code executed
#   quick    one file of each suite, one model of brms, ArviZ and the pages
#
# What cannot pass, and why, is in doc/evidence/cmdstan-suites.md. The exit code is 1 if anything
# else fails. What was said stays in ROOT/clients/log. WRAP, if it is set, is put before
# each command that takes long, such as WRAP="nice timeout 900".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
(($# > 0)) || { sed -n '2,28p' "$0"; exit 2; }
root=$1
shift
(($# > 0)) || set -- python r brms readers arviz pages
: "${SOURCES:?set SOURCES to the folder with cmdstanpy, cmdstanr and stanio}"
version=$(sed -n 's/^\tMajor = \(.*\)/\1/p;s/^\tMinor = \(.*\)/.\1/p;s/^\tPatch = \(.*\)/.\1/p' "$top/front/cmdstan/stan/stan.go" | tr -d '\n')
home=/home/tester/.cmdstan/cmdstan-$version # where front ends look by themselves

packages=(make git dpkg-dev
  python3 python3-numpy python3-pandas python3-scipy python3-pytest python3-pytest-order python3-xarray python3-zarr python3-tqdm
  python3-testfixtures python3-setuptools python3-matplotlib python3-h5netcdf python3-platformdirs python3-lazy-loader
  r-base-core r-cran-posterior r-cran-brms r-cran-rstan r-cran-splines2 r-cran-processx r-cran-checkmate r-cran-data.table
  r-cran-jsonlite r-cran-r6 r-cran-testthat r-cran-withr r-cran-bayesplot r-cran-loo r-cran-knitr r-cran-rlang r-cran-mockery)

# Makes the root, or what of it there is not.
install() {
  local mirror
  if [[ ! -e $root/usr/bin/apt-get ]]; then
    command -v debootstrap >/dev/null || { apt-get update -qq; apt-get install -y -qq debootstrap; }
    mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -1)
    debootstrap --variant=minbase trixie "$root" ${mirror:+"$mirror"} >/dev/null
  fi
  mountpoint -q "$root/proc" || mount --bind /proc "$root/proc"
  mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
  if [[ ! -e $root/clients/installed ]]; then
    chroot "$root" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    chroot "$root" useradd -m tester 2>/dev/null || true
    mkdir -p "$root/clients"
    touch "$root/clients/installed"
  fi
  rm -rf "$root"/clients/{cmdstanpy,cmdstanr,stanio,arviz,package,pages,log}
  mkdir -p "$root"/clients/{arviz,log,package}
  cp -r "$top/front/python/ppl" "$root/clients/package/"
  cp -r "$top/front/r" "$root/clients/package/r"
  cp -r "$SOURCES"/{cmdstanpy,cmdstanr,stanio} "$root/clients/"
  if [[ -d $SOURCES/arviz ]]; then
    cp -r "$SOURCES"/{arviz/arviz,arviz-base/src/arviz_base,arviz-stats/src/arviz_stats,xarray-einstats/src/xarray_einstats} "$root/clients/arviz/"
  fi
  cp "$here"/*.R "$here"/*.py "$root/clients/"
  CGO_ENABLED=0 go build -C "$top" -o "$root/usr/local/bin/ppl" ./cmd/ppl
  "$top/front/bridge/libppl/build" "$root/clients/bridge"
  chroot "$root" /usr/local/bin/ppl cmdstan-home "$home"
  chroot "$root" chown -R tester /clients /home/tester
}

# Runs a command in the root as a user without rights, as the tests want.
inside() {
  ${WRAP:-} chroot "$root" runuser -u tester -- env -i HOME=/home/tester LC_ALL=C.UTF-8 NOT_CRAN=true \
    PATH=/usr/local/bin:/usr/bin:/bin CMDSTAN="$home" PPL_BINARY=/usr/local/bin/ppl PPL_LIBRARY=/clients/bridge/libppl.so PYTHONPATH=/clients/package:/clients/cmdstanpy:/clients/stanio:/clients/arviz \
    R_LIBS=/clients/rlib sh -c "cd $1; $2"
}

# The tests that cannot pass: the first column of the tables in the document.
known() { sed -n 's/^| `\([^`]*\)` |.*/\1/p' "$top/doc/evidence/cmdstan-suites.md"; }

# Compares the tests that failed, a name to a line, with those known; prints the counts.
judge() {
  local suite=$1 passed=$2 skipped=$3 failed=$4 unknown
  # A name that ends in :: * stands for all tests of a file.
  unknown=$(known | awk 'NR == FNR { if (sub(/ \*$/, "")) all[$0]; else one[$0]; next }
    { hit = $0 in one; for (a in all) hit = hit || index($0, a) == 1; if (!hit) print }' - "$failed")
  echo "$suite: $passed passed, $skipped skipped, $(grep -c . "$failed" || true) failed"
  if [[ -n $unknown ]]; then
    echo "failed, and not listed:"
    sed 's/^/  /' <<<"$unknown"
    status=1
  fi
}

python() {
  local out="$root/clients/log/python.log"
  inside /clients/cmdstanpy "timeout 1800 python3 -m pytest -q -rA -p no:cacheprovider ${1:-test}" >"$out" 2>&1 || true
  sed -n 's/^\(FAILED\|ERROR\) \([^ ]*\).*/\2/p' "$out" | sort -u >"$out.failed"
  judge CmdStanPy "$(grep -c '^PASSED' "$out" || true)" "$(grep -c '^SKIPPED' "$out" || true)" "$out.failed"
}

# A file of tests that takes too long counts as one failure; its time is told.
r() {
  local log="$root/clients/log" files file began
  cmdstanr_installed || return 0
  files=${1:-$(cd "$root/clients/cmdstanr/tests/testthat" && ls test-*.R | sed 's/^test-//;s/\.R$//' | tr '\n' ' ')}
  for file in ${files//,/ }; do
    began=$SECONDS
    inside /clients/cmdstanr "timeout 800 Rscript /clients/tests.R $file" >"$log/r-$file.log" 2>"$log/r-$file.err" ||
      echo "RESULT FAIL $file :: did not end" >>"$log/r-$file.log"
    echo "  $file: $(grep -c '^RESULT PASS' "$log/r-$file.log" || true) passed, $(grep -c '^RESULT FAIL' "$log/r-$file.log" || true) failed, $((SECONDS - began)) s"
  done
  cat "$log"/r-*.log >"$log/r.log"
  sed -n 's/^RESULT FAIL //p' "$log/r.log" | sed 's/ *$//' | sort -u >"$log/r.failed"
  judge CmdStanR "$(grep -c '^RESULT PASS' "$log/r.log" || true)" "$(grep -c '^RESULT SKIP' "$log/r.log" || true)" "$log/r.failed"
}

cmdstanr_installed() {
  [[ -d $root/clients/rlib/cmdstanr ]] && return
  inside /clients "mkdir -p rlib && R CMD INSTALL -l rlib cmdstanr package/r >log/install.log 2>&1" && return
  echo "cmdstanr cannot be installed:"
  tail "$root/clients/log/install.log"
  status=1
  return 1
}

brms() {
  cmdstanr_installed || return 0
  inside /home/tester "timeout 3000 Rscript /clients/brms.R $*" 2>"$root/clients/log/brms.err" | tee "$root/clients/log/brms.log" | grep '^BRMS' || true
  grep -q '^BRMS 0 failed$' "$root/clients/log/brms.log" || status=1
}

arviz() {
  if [[ ! -d $root/clients/arviz/arviz_base ]]; then
    echo "ArviZ: left out, its sources are not there"
    return
  fi
  rm -rf "$root/clients/az"
  mkdir "$root/clients/az"
  cp "$top"/examples/eight_schools/eight_schools.{model,data.json} "$here/schools.stan" "$root/clients/az/"
  chroot "$root" chown -R tester /clients/az
  inside /clients/az "timeout 900 python3 ../arviz.py" 2>"$root/clients/log/arviz.err" || status=1
}

# Reads the files of every sampler.
readers() {
  cmdstanr_installed || { echo "readers: left out, as cmdstanr is not there"; return 0; }
  rm -rf "$root/clients/read"
  mkdir -p "$root/clients/read"
  cp "$top"/examples/eight_schools/eight_schools.{model,data.json} "$root/clients/read/"
  chroot "$root" chown -R tester /clients/read
  inside /clients/read "python3 /clients/readers.py /usr/local/bin/ppl . $home && Rscript /clients/readers.R readers" 2>"$root/clients/log/readers.err" | tee "$root/clients/log/readers.log" || status=1
}

# Executes the code of a page, in a separate folder: blocks of shell, R and Python one
# after the other.
pages() {
  cmdstanr_installed || { echo "pages: left out, as cmdstanr is not there"; return 0; }
  for page in r python; do
    rm -rf "$root/clients/pages"
    mkdir -p "$root/clients/pages"
    cp "$top"/examples/eight_schools/eight_schools.{model,data.json} "$root/clients/pages/"
    awk -v dir="$root/clients/pages" '
      /^```(sh|r|python)$/ { kind = substr($0, 4); name = sprintf("%02d.%s", ++n, kind); next }
      /^```/ { name = ""; next }
      name { print > (dir "/" name) }' "$top/doc/how-to/$page.md"
    chroot "$root" chown -R tester /clients/pages
    # One session for all blocks of a language: they build on each other.
    # The exit code decides, whatever is printed; the log is shown if it is not 0.
    if inside /clients/pages 'set -e; for f in *.sh; do [ ! -e $f ] || sh -e $f; done
      if ls *.r >/dev/null 2>&1; then cat *.r >all.R; Rscript all.R; fi
      if ls *.python >/dev/null 2>&1; then cat *.python >all.py; python3 all.py; fi' \
      >"$root/clients/log/pages-$page.log" 2>&1; then
      echo "doc/how-to/$page.md: its code runs"
    else
      echo "doc/how-to/$page.md: its code ended with an error:"
      tail -20 "$root/clients/log/pages-$page.log"
      status=1
    fi
  done
}

status=0
install
for step in "$@"; do
  case $step in
    python | brms | readers | arviz | pages) $step ;;
    r) r ;;
    r=*) r "${step#r=}" ;;
    brms=*) brms "${step#brms=}" ;;
    quick) python test/test_optimize.py; r csv; brms student; arviz; pages ;;
    *) echo "no step $step"; exit 2 ;;
  esac
done
echo "${*}: exit code $status"
exit $status
