package data

import "encoding/json"

// fault records an error in the value of a variable, which begins at start, and continues after the
// value. It returns an error if the value is not JSON, since its end is then unknown.
func (p *parser) fault(name string, start int, err error) error {
	e, ok := err.(*Error)
	p.pos = start
	if !ok || e.Path == "" || !p.skip() {
		return err
	}
	size := int64(p.pos - start)
	if err := p.memory.take(size); err != nil {
		return err
	}
	if !json.Valid([]byte(p.text[start:p.pos])) {
		return err
	}
	p.memory.give(size)
	p.set.addFault(name, e)
	return nil
}

// skip skips an invalid value, up to its apparent end.
func (p *parser) skip() bool {
	const deepest = 1000
	var open []byte // the expected closing brackets
	for i := p.pos; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if len(open) == deepest {
				return false
			}
			open = append(open, c+2) // the closing bracket comes two after the opening one in ASCII
		case ']', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				p.pos = i
				return len(open) == 0
			}
			open = open[:len(open)-1]
		case ',':
			if len(open) == 0 {
				p.pos = i
				return true
			}
		}
	}
	return false
}
