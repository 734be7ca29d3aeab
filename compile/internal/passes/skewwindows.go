package passes

// window is a range of wavefronts of a table, with the rows that have cells in them. The rows are
// the lanes of a scan over these wavefronts.
type window struct {
	from, to int // wavefronts
	lo, hi   int // rows
}

func (w window) steps() int { return w.to - w.from }
func (w window) width() int { return w.hi - w.lo }
func (w window) lanes() int { return w.steps() * w.width() }

// at returns the wavefront and the row of lane p, counted over all wavefronts of the window.
func (w window) at(p int) (front, row int) { return w.from + p/w.width(), w.lo + p%w.width() }

// split divides the wavefronts into windows. The first wavefronts of a table have cells only in the
// first rows, the last ones only in the last rows, so that in a single window about half the lanes
// of a square table have no cell. See maxWindowShare for the number of windows.
func (t *skewing) split() []window {
	into := func(n int) (list []window, lanes int) {
		fronts := t.fronts()
		n = max(1, min(n, fronts/minWindow))
		for i := range n {
			w := window{from: i * fronts / n, to: (i + 1) * fronts / n}
			w.lo = max(0, (w.from-t.columns)/t.slope+1)
			if w.from < t.columns {
				w.lo = 0
			}
			w.hi = min(t.rows, (w.to-1)/t.slope+1)
			list = append(list, w)
			lanes += w.steps() * (w.width() + vectorWidth - 1) / vectorWidth * vectorWidth
		}
		return list, lanes
	}
	_, least := into(maxWindows)
	for n := 1; n < maxWindows; n++ {
		if list, lanes := into(n); lanes-least < minWindowLanes || float64(lanes) <= maxWindowShare*float64(least) {
			return list
		}
	}
	list, _ := into(maxWindows)
	return list
}
