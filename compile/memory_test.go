package compile

import "testing"

func TestAddressLimit(t *testing.T) {
	const head = "Limit                     Soft Limit           Hard Limit           Units     \nMax file size             unlimited            unlimited            bytes     \n"
	for line, want := range map[string]int64{
		"Max address space         8589934592           unlimited            bytes     \n": 8589934592,
		"Max address space         unlimited            unlimited            bytes     \n": 0,
		"Max address space": 0,
		"":                  0,
	} {
		if n, ok := addressLimit(head + line); ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d, %t", line, n, ok)
		}
	}
}

func TestMemTotal(t *testing.T) {
	if n, ok := memTotal("MemFree: 1 kB\nMemTotal:       16318940 kB\n"); !ok || n != 16318940<<10 {
		t.Error(n, ok)
	}
}
