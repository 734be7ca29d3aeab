package diagnose

import "strings"

// DisplayName turns the name of an element as files have it (b.2.3, t.1:2, z.real)
// into the one that people read (b[2,3], t[1].2, z.real).
func DisplayName(name string) string {
	members := strings.Split(name, ":")
	for i, m := range members {
		base, indices, ok := strings.Cut(m, ".")
		if !ok {
			continue
		}
		part := ""
		for _, suffix := range []string{"real", "imag"} {
			if rest, ok := strings.CutSuffix("."+indices, "."+suffix); ok {
				indices, part = strings.TrimPrefix(rest, "."), "."+suffix
			}
		}
		if indices != "" {
			base += "[" + strings.ReplaceAll(indices, ".", ",") + "]"
		}
		members[i] = base + part
	}
	return strings.Join(members, ".")
}

// VariableName is the name of the variable that an element belongs to, whose name is as files
// have it: b of b.2.3.
func VariableName(name string) string {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		return name[:i]
	}
	return name
}
