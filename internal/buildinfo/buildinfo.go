// Package buildinfo describes the build of this module in a program.
package buildinfo

import (
	"runtime/debug"
	"strings"
	"time"
)

// Build describes the origin of a build.
type Build struct {
	Version string // of this module; devel if it is not a release
	Commit  string // hash of the commit, 12 digits of it if the version has no more; "" if unknown
	Time    string // of the commit, RFC 3339
	Changed bool   // the tree had changes since the commit
}

// Read describes this build. Changed is known only if this module contains the program, and Go
// built it in a clone. Commit and Time are then known, too; else only if the version has them, as
// that of go install has if the commit has no tag.
func Read() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "devel"}
	}
	return of(info)
}

// of describes the build of a program.
func of(info *debug.BuildInfo) Build {
	b := Build{Version: "devel"}
	const path = "github.com/ppl-lang/ppl"
	version := ""
	if info.Main.Path == path {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Changed = s.Value == "true"
			}
		}
	}
	for _, m := range info.Deps {
		if m.Path == path {
			version = m.Version
		}
	}
	if version != "" && version != "(devel)" {
		b.Version = version
	}
	if b.Commit == "" {
		b.Time, b.Commit = origin(b.Version)
	}
	return b
}

// origin returns the time and the commit in a version that Go made of them, such as
// v0.0.0-20261128014405-65a67867c34d. They are empty for other versions.
func origin(version string) (at, commit string) {
	version, _, _ = strings.Cut(version, "+")
	i := strings.LastIndexByte(version, '-')
	const digits, layout = 12, "20060102150405"
	if i < len(layout)+1 || len(version)-i-1 != digits || strings.Trim(version[i+1:], "0123456789abcdef") != "" {
		return "", ""
	}
	if before := version[i-len(layout)-1]; before != '-' && before != '.' {
		return "", ""
	}
	t, err := time.Parse(layout, version[i-len(layout):i])
	if err != nil {
		return "", ""
	}
	return t.Format(time.RFC3339), version[i+1:]
}
