package native

// Func is a function of executable code.
type Func struct{ entry uintptr }

// Make makes the code executable and returns its functions, by their labels. It
// is freed when nobody references the Code.
func (a *Asm) Make(entries []Label) (*Code, []Func, error) {
	offsets := make([]int, len(entries))
	for i, l := range entries {
		offsets[i] = a.labels[l]
	}
	c, err := newCode(a.finish())
	if err != nil {
		return nil, nil, err
	}
	fs := make([]Func, len(entries))
	for i := range fs {
		fs[i] = Func{c.base + uintptr(offsets[i])}
	}
	return c, fs, nil
}
