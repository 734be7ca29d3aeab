package short

import (
	"testing"
	"time"
)

// TestTurn checks that each case is due on one of k days, and that a number or "all" selects.
func TestTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("all cases are due with -short")
	}
	defer func(day int, every bool) { today, all = day, every }(today, all)
	due := map[int]int{}
	for day := range 5 {
		today, all = part("", time.Unix(int64(20_000+day)*24*60*60+1, 0))
		if all || today != 20_000+day {
			t.Fatal(day, today, all)
		}
		for _, c := range Turns(5, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
			due[c]++
		}
	}
	for c := range 11 {
		if due[c] != 1 {
			t.Errorf("case %d is due on %d of 5 days", c, due[c])
		}
	}
	if today, all = part("3", time.Now()); today != 3 || !Turn(8, 5) || Turn(9, 5) {
		t.Error("part 3 is not selected")
	}
	if today, all = part("all", time.Now()); !Turn(8, 5) || !Turn(9, 5) {
		t.Error("not all are due")
	}
}
