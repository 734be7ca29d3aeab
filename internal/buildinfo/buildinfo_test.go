package buildinfo

import (
	"runtime/debug"
	"testing"
)

// TestOf checks what is known of builds in a clone, by go install, and in other modules.
func TestOf(t *testing.T) {
	const path = "github.com/ppl-lang/ppl"
	const hash = "65a67867c34dd77ad8de3ca5dd4143520fdd7dd9"
	const pseudo = "v0.0.0-20261128014405-65a67867c34d"
	stamps := []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: "2026-11-28T01:44:05Z"}, {Key: "vcs.modified", Value: "true"}}
	for _, test := range []struct {
		name string
		info debug.BuildInfo
		want Build
	}{
		{"a clone", debug.BuildInfo{Main: debug.Module{Path: path, Version: pseudo + "+dirty"}, Settings: stamps}, Build{pseudo + "+dirty", hash, "2026-11-28T01:44:05Z", true}},
		{"a clone, not asked", debug.BuildInfo{Main: debug.Module{Path: path, Version: "(devel)"}}, Build{Version: "devel"}},
		{"go install of a commit", debug.BuildInfo{Main: debug.Module{Path: path, Version: pseudo}}, Build{pseudo, "65a67867c34d", "2026-11-28T01:44:05Z", false}},
		{"go install after a tag", debug.BuildInfo{Main: debug.Module{Path: path, Version: "v0.1.1-0.20261128014405-65a67867c34d"}}, Build{"v0.1.1-0.20261128014405-65a67867c34d", "65a67867c34d", "2026-11-28T01:44:05Z", false}},
		{"go install of a tag", debug.BuildInfo{Main: debug.Module{Path: path, Version: "v0.1.0"}}, Build{Version: "v0.1.0"}},
		{"go install of a candidate", debug.BuildInfo{Main: debug.Module{Path: path, Version: "v0.1.0-rc.1"}}, Build{Version: "v0.1.0-rc.1"}},
		{"another module", debug.BuildInfo{Main: debug.Module{Path: "example.org/m", Version: "v3.0.0"}, Deps: []*debug.Module{{Path: path, Version: pseudo}}, Settings: stamps}, Build{pseudo, "65a67867c34d", "2026-11-28T01:44:05Z", false}},
		{"nothing", debug.BuildInfo{}, Build{Version: "devel"}},
	} {
		if got := of(&test.info); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	for _, version := range []string{"", "devel", "v1", "-65a67867c34d", "20261128014405-65a67867c34d", "v0.0.0-20261399014405-65a67867c34d", "v0.0.0x20261128014405-65a67867c34d", "v0.0.0-20261128014405-65a67867c34x"} {
		if at, commit := origin(version); at != "" || commit != "" {
			t.Errorf("%q has %q and %q", version, at, commit)
		}
	}
}
