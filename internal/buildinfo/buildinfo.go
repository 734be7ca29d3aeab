// Package buildinfo tells which build of this module a program is.
package buildinfo

import "runtime/debug"

// Build is what a build knows of where it came from.
type Build struct {
	Version string // of this module; devel for a build that is not a release
	Commit  string // its hash; "" if the build did not know it
	Time    string // of the commit, RFC 3339
	Changed bool   // the tree had changes since the commit
}

// Read describes this build. Commit and so on are those of the module that contains the program,
// known if it is this one.
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
