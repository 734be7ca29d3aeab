package diagnose

import "strings"

// DisplayName converts the name of an element in files (b.2.3, t.1:2, z.real) to a readable one
// (b[2,3], t[1].2, z.real).
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

// VariableName returns the variable of an element with the given name in files: b for b.2.3.
func VariableName(name string) string {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		return name[:i]
	}
	return name
}
