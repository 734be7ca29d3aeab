package bind

// intAt is position p of known integers in lane l of ax; up maps the lanes of ax
// to those of the integers, nil if they are the same.
func intAt(v value, ax *axis, up []int32, l, p int) int64 {
	n := v.size()
	if len(v.shape) == 0 {
		p = 0
	}
	if v.axis == nil {
		return v.ints[p]
	}
	if up != nil {
		l = int(up[l])
	}
	return v.ints[l*n+p]
}

// upTo is the map of ax's lanes to those of the axis of known integers; nil if
// they are the same or there is none.
func upTo(ax, of *axis) []int32 {
	if of == nil || of == ax {
		return nil
	}
	return ax.lanesOf(of)
}
