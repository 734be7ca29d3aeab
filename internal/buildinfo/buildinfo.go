// Package buildinfo describes the build of this module in a program.
package buildinfo

import "runtime/debug"

// Build describes the origin of a build.
type Build struct {
	Version string // of this module; devel if it is not a release
	Commit  string // hash of the commit; "" if unknown
	Time    string // of the commit, RFC 3339
	Changed bool   // the tree had changes since the commit
}

// Read describes this build. Commit, Time and Changed are known only if this module contains the
// program.
func Read() Build {
	b := Build{Version: "devel"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
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
	return b
}
