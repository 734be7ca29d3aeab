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
	defer func(was func() (int, bool)) { chosen = was }(chosen)
	set := func(text string, day int64) {
		chosen = func() (int, bool) { return part(text, time.Unix(day*24*60*60+1, 0)) }
	}
	due := map[int]int{}
	for day := range int64(5) {
		set("", 20_000+day)
		if today, all := chosen(); all || int64(today) != 20_000+day {
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
	if set("3", 20_001); !Turn(8, 5) || Turn(9, 5) {
		t.Error("part 3 is not selected")
	}
	if set("all", 20_001); !Turn(8, 5) || !Turn(9, 5) {
		t.Error("not all are due")
	}
}
