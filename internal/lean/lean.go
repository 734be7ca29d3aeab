// Package lean has the arguments with which released programs are built, so that they are small.
//
// Inlining makes the program 15 % larger. It makes loops over numbers faster, and code that runs
// once no faster. So a release compiles without inlining what runs once for a model, a command or a
// request. What runs once for a gradient, a draw or a cell of data is inlined. Where nothing is
// inlined, small slices of variable length are not allocated on the stack either, and the memory of
// a slice that grew is left to the garbage collector: both take code at each make and append.
//
// Measured in November 2026 on linux/amd64 in alternating runs: gradients, starting, checking and
// sampling take the same processor time. A program built by go install has no such arguments.
package lean

import "strings"

// Args returns the arguments of go build for a small program, with build tags. HTTP/2 is left out,
// since ppl serves no TLS. Embedded files are compressed, see package packed.
func Args(tags ...string) []string {
	return append([]string{
		"-trimpath",
		"-tags=" + strings.Join(append(tags, "packed", "nethttpomithttp2"), ","),
		"-ldflags=-s -w -buildid= -funcalign=4",
	}, Inlining()...)
}

// Inlining returns the arguments of go build that turn inlining off where it does not pay.
func Inlining() []string {
	var args []string
	for _, p := range cold() {
		args = append(args, "-gcflags="+p+"=-l -d=variablemakethreshold=0,freeappend=0")
	}
	return args
}

// cold lists patterns of packages that are compiled without inlining.
func cold() []string {
	const module = "github.com/ppl-lang/ppl/"
	return []string{
		module + "ad",
		module + "assess/...",
		module + "cmd/...",
		module + "compile",
		module + "compile/internal/batch",
		module + "compile/internal/bind",
		module + "compile/internal/emit",
		module + "compile/internal/inspect",
		module + "compile/internal/known",
		module + "compile/internal/lanes",
		module + "compile/internal/loopnest",
		module + "compile/internal/censor",
		module + "compile/internal/marginal",
		module + "compile/internal/native",
		module + "compile/internal/passes",
		module + "compile/internal/plan",
		module + "compile/internal/ragged",
		module + "compile/internal/sparse",
		module + "compile/internal/static",
		module + "compile/ir",
		module + "fit",
		module + "fit/folder",
		module + "fit/selfcheck",
		module + "front/...",
		module + "infer/auto",
		module + "infer/diagnose",
		module + "infer/sampler",
		module + "infer/tempered",
		module + "infer/zarr",
		module + "internal/buildinfo",
		module + "internal/cputime",
		module + "internal/files",
		module + "internal/goroutines",
		module + "internal/lean",
		module + "internal/lzma",
		module + "internal/planted",
		module + "internal/race",
		module + "internal/sorting",
		module + "lang/...",
		module + "model/...",
		module + "stdlib/...",
		module + "study/...",

		"github.com/alecthomas/...",
		"github.com/creachadair/...",
		"github.com/google/...",
		"github.com/modelcontextprotocol/...",
		"github.com/pelletier/...",
		"github.com/segmentio/...",
		"github.com/spf13/...",
		"github.com/yosida95/...",
		"go.yaml.in/...",
		"golang.org/x/image/...",

		"archive/...",
		"compress/gzip",
		"compress/zlib",
		"context",
		"crypto/...",
		"encoding/...",
		"expvar",
		"flag",
		"fmt",
		"image/...",
		"internal/fmtsort",
		"internal/poll",
		"io/fs",
		"log/...",
		"math/big",
		"mime/...",
		"net/...",
		"os/...",
		"path/...",
		"regexp/...",
		"syscall",
		"text/...",
		"time",
		"vendor/...",
	}
}
