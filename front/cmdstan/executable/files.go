package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/files"
)

// splitSuffix splits a file name into its base and its suffix, which begins with a dot.
func splitSuffix(name string) (base, suffix string) {
	file := filepath.Base(name)
	i := strings.LastIndexByte(file, '.')
	if i <= 0 || i == len(file)-1 || file[i-1] == '.' {
		return name, ""
	}
	suffix = file[i:]
	return strings.TrimSuffix(name, suffix), suffix
}

// fileNames returns the file names of all chains, each with the tag before the suffix. For one
// chain it is name, for several they have the chain's number. A comma-separated list has a name for
// each chain. kind is the suffix: .csv, which name may replace by another, or .json.
func (r *run) fileNames(name, tag, kind string) []string {
	if list := strings.Split(name, ","); r.chains > 1 && len(list) == r.chains {
		for i, n := range list {
			base, suffix := splitSuffix(n)
			if suffix == "" || kind != ".csv" {
				suffix = kind
			}
			list[i] = base + tag + suffix
		}
		return list
	}
	base, suffix := splitSuffix(name)
	if suffix == "" || kind != ".csv" {
		suffix = kind
	}
	names := make([]string, r.chains)
	for i := range names {
		names[i] = base + tag + suffix
		if r.chains > 1 {
			names[i] = base + tag + "_" + strconv.Itoa(r.id+i) + suffix
		}
	}
	return names
}

// checkFiles returns an error if an output is a folder, or would overwrite an input.
func (r *run) checkFiles() error {
	output := r.config.Text("output.file")
	for _, name := range []string{output, r.config.Text("output.diagnostic_file")} {
		if strings.HasSuffix(name, string(filepath.Separator)) || strings.HasSuffix(name, "..") || strings.HasSuffix(name, string(filepath.Separator)+".") {
			return fmt.Errorf("Ill-formed output filename %s", name)
		}
	}
	for _, input := range []struct{ method, name string }{
		{"generate_quantities", "fitted_params"}, {"laplace", "mode"}, {"log_prob", "constrained_params"},
	} {
		if r.config.Text("method") != input.method {
			continue
		}
		if name := r.text(input.method + "." + input.name); name != "" && filepath.Clean(name) == filepath.Clean(output) {
			return fmt.Errorf("Filename conflict, %s file %s and output file names are identical, must be different.", input.name, name)
		}
	}
	return nil
}

// readValues reads a file of values: JSON if the name says so, otherwise R's dump format. It
// returns no values for the name "".
func (r *run) readValues(name string) (*data.Set, error) {
	if name == "" {
		return data.Empty(), nil
	}
	if !exists(name) {
		return nil, fmt.Errorf("Can't open specified file, \"%s\"", name)
	}
	o := data.Options{Limit: math.MaxInt64, Memory: r.memory} // no limit but the memory
	text, err := files.Until(r.ctx, func() (string, error) { return data.ReadText(name, o) })
	if err != nil {
		return nil, err
	}
	if _, suffix := splitSuffix(name); suffix == ".json" {
		return data.ParseText(name, text, o)
	}
	r.complain("Warning: file '%s' is being read as an 'RDump' file.\n"+
		"\tThis format is deprecated and will not receive new features.\n"+
		"\tConsider saving your data in JSON format instead.", name)
	return data.ParseDump(name, text, o)
}

// readEach reads values for each chain. They come from name_ID.json if that exists for the first
// chain, otherwise from name for all chains, or from a list of names.
func (r *run) readEach(name string) ([]*data.Set, error) {
	all := make([]*data.Set, r.chains)
	names := strings.Split(name, ",")
	switch {
	case r.chains == 1 || name == "":
		names = []string{name}
	case len(names) == r.chains:
	case len(names) > 1:
		return nil, fmt.Errorf("%d files are given for %d chains: %s", len(names), r.chains, name)
	default:
		base, suffix := splitSuffix(name)
		switch suffix {
		case ".json", ".R":
		case "":
			return nil, fmt.Errorf("Found: \"%s\" but user specified files must end in .json or .R", name)
		default:
			return nil, fmt.Errorf("file ending of %s is not supported by cmdstan", suffix)
		}
		first := fmt.Sprintf("%s_%d%s", base, r.id, suffix)
		if !exists(first) {
			if !exists(name) {
				return nil, fmt.Errorf("Searching for  \"\"%s\" and base file \"%s\"\nCan't open either of specified files,\"%s\" and base file \"%s\"", first, name, first, name)
			}
			break
		}
		names = nil
		for i := range r.chains {
			n := fmt.Sprintf("%s_%d%s", base, r.id+i, suffix)
			if !exists(n) {
				return nil, fmt.Errorf("Found \"%s\" but cannot open \"%s\"", first, n)
			}
			names = append(names, n)
		}
	}
	for i := range all {
		if i >= len(names) {
			all[i] = all[0]
			continue
		}
		var err error
		if all[i], err = r.readValues(names[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
