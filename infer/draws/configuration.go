package draws

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// StanVersion is the version of Stan whose CSV layout the files follow. Programs that read the
// files check it.
var StanVersion = [3]int{2, 39, 0}

// Configuration is what the head of a file in CmdStan's format states about a run. Programs that
// read such files look for these names.
type Configuration struct {
	Model    string // file name of the model
	DataFile string
	Program  string // name and version of the program that writes the file

	Method  Setting // the method and its options
	ID      int     // number of the chain or path; 0: 1
	Init    string  // starting point, as CmdStan states it; "": 2
	Seed    uint64
	SigFigs int       // significant digits; 0: the numbers are exact
	Threads int       // 0: 1
	Refresh int       // 0: 100
	Started time.Time // zero: not stated
}

// Settings returns the settings for the head of the file at path.
func (c Configuration) Settings(path string) []Setting {
	model := strings.TrimSuffix(filepath.Base(c.Model), filepath.Ext(c.Model))
	number := func(name string, v, standard int) Setting {
		if v == 0 {
			v = standard
		}
		return Setting{Name: name, Value: strconv.Itoa(v), Default: v == standard}
	}
	digits := c.SigFigs
	if digits == 0 {
		digits = ExactSigFigs
	}
	init := c.Init
	if init == "" {
		init = "2"
	}
	settings := []Setting{
		{Name: "stan_version_major", Value: strconv.Itoa(StanVersion[0])},
		{Name: "stan_version_minor", Value: strconv.Itoa(StanVersion[1])},
		{Name: "stan_version_patch", Value: strconv.Itoa(StanVersion[2])},
		{Name: "model", Value: model + "_model"},
	}
	if !c.Started.IsZero() {
		settings = append(settings, Setting{Name: "start_datetime", Value: c.Started.UTC().Format(time.DateTime + " UTC")})
	}
	return append(settings,
		c.Method,
		number("id", c.ID, 1),
		Setting{Name: "data", Group: true, Children: []Setting{{Name: "file", Value: c.DataFile, Default: c.DataFile == ""}}},
		Setting{Name: "init", Value: init, Default: init == "2"},
		Setting{Name: "random", Group: true, Children: []Setting{{Name: "seed", Value: strconv.FormatUint(c.Seed, 10)}}},
		Setting{Name: "output", Group: true, Children: []Setting{
			{Name: "file", Value: path, Default: path == "output.csv"},
			{Name: "diagnostic_file", Default: true},
			number("refresh", c.Refresh, 100),
			number("sig_figs", digits, DefaultSigFigs),
		}},
		number("num_threads", c.Threads, 1),
		Setting{Name: "stanc_version", Value: c.Program},
		Setting{Name: "stancflags"},
	)
}
