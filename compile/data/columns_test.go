package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestColumnName checks that headers are converted to names that a program can declare.
func TestColumnName(t *testing.T) {
	for header, want := range map[string]string{
		"y": "y", "age (years)": "age_years", "Sepal.Length": "Sepal_Length", "a__b": "a__b", " x ": "x", "_x_": "x",
		"2nd try": "x2nd_try", "größe": "gr_e", "%": "", "": "", "a - _b": "a_b", "a\u00a0b": "a_b",
	} {
		if got := ColumnName(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// TestHoles checks that missing values are faults, or that their rows are left out, or that they
// become NaN, as chosen for each column. Levels are those of the remaining rows.
func TestHoles(t *testing.T) {
	const text = "x,g,n\n1,b,1\nNA,c,2\n3,,3\n4,a,NA\n5,a,5\n"
	by := func(of map[string]Holes) func(string) Holes {
		return func(column string) Holes { return of[column] }
	}
	for _, c := range []struct {
		of      map[string]Holes
		want    string
		dropped int
		faults  string
	}{
		{nil, "", 0, "x g n "},
		{map[string]Holes{"x": HolesDrop}, "x[1 3 4 5]", 1, "g n "},
		{map[string]Holes{"x": HolesDrop, "g": HolesDrop}, "x[1 4 5] g[2 1 1]", 2, "n "},
		{map[string]Holes{"x": HolesDrop, "g": HolesDrop, "n": HolesDrop}, "x[1 5] g[2 1] n[1 5]", 3, ""},
		{map[string]Holes{"x": HolesKeep, "n": HolesKeep}, "x[1 NaN 3 4 5] n[1 2 3 NaN 5]", 0, "g "},
		{map[string]Holes{"g": HolesKeep}, "", 0, "x g n "}, // NaN cannot be a level
	} {
		s, err := ParseTable("d.csv", text, Options{Holes: by(c.of), Counts: []Count{{Name: "N"}, {Name: "J", Of: ""}}})
		if err != nil {
			t.Fatal(err)
		}
		got, faults := "", ""
		for _, name := range []string{"x", "g", "n"} {
			if v, ok := s.Get(name); ok {
				got += fmt.Sprintf(" %s%v", name, v.Reals)
			}
			if s.Fault(name) != nil {
				faults += name + " "
			}
		}
		if n, _ := s.Get("N"); got != "" && got[1:] != c.want || got == "" && c.want != "" || s.Dropped() != c.dropped || faults != c.faults || n.Ints[0] != int64(5-c.dropped) {
			t.Errorf("%v:%s, %d dropped, faults %s, N %v, want %+v", c.of, got, s.Dropped(), faults, n.Ints, c)
		}
		for i, want := range []int{1, 1, 1} {
			if s.Columns()[i].Missing != want {
				t.Errorf("%v: %+v", c.of, s.Columns())
			}
		}
	}
	s, err := ParseTable("d.csv", "x\n2\nNA\n", Options{Holes: by(map[string]Holes{"x": HolesKeep})})
	if v, _ := s.Get("x"); err != nil || v.IsInt || !math.IsNaN(v.Reals[1]) {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestTableValue checks that numbers are read as by strconv, and that integers and reals are
// distinguished.
func TestTableValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	texts := []string{"", "-", "+", ".", "-.", "1.", ".5", "-.5", "-0", "+0", "0", "-0.0", "1.0", "1.50", "007", "1e5", "1E-3", "--1", "1-", "1.2.3", "0x1", "1_0",
		"999999999999999", "9999999999999999", "9007199254740991", "9007199254740992", "-9007199254740991", "123456789012345.0", "0.000000000000001", "1e999", "nan", "NaN", "Inf", "-inf", "+Inf", "infinity", "1,5", "١"}
	for range 20_000 {
		b := strconv.AppendFloat(nil, rng.NormFloat64()*math.Pow(10, float64(rng.IntN(12)-4)), 'f', rng.IntN(12), 64)
		if rng.IntN(4) == 0 {
			b[rng.IntN(len(b))] = "0123456789.-+e"[rng.IntN(14)]
		}
		texts = append(texts, string(b))
	}
	for _, f := range texts {
		want, err := strconv.ParseFloat(f, 64)
		number := (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(f, "xX_pP") && f != "infinity"
		integer := regexp.MustCompile(`^[+-]?[0-9]+(\.0+)?$`).MatchString(f) && math.Abs(want) < 1<<53
		if integer {
			want += 0 // 0 for -0, which integers do not have
		}
		x, isInteger, isNumber := tableValue(f)
		if isNumber != number || isInteger != integer || number && math.Float64bits(x) != math.Float64bits(want) && !math.IsNaN(want) {
			t.Errorf("%q: %v, integer %v, number %v; want %v, %v, %v", f, x, isInteger, isNumber, want, integer, number)
		}
	}
}

// TestPlainRows checks that tables without quotes are read as by encoding/csv.
func TestPlainRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 20_000 {
		b := make([]byte, rng.IntN(30))
		for i := range b {
			b[i] = "ab,,\n\n\r# 1"[rng.IntN(10)]
		}
		text := string(b)
		want := csv.NewReader(strings.NewReader(text))
		want.Comment, want.TrimLeadingSpace = '#', true
		got := &plainRows{text: text, comma: ','}
		for {
			g, gotErr := got.Read()
			w, wantErr := want.Read()
			if (gotErr == nil) != (wantErr == nil) || wantErr != nil && gotErr.Error() != wantErr.Error() || len(g) != len(w) {
				t.Fatalf("%q: %q, %v, want %q, %v", text, g, gotErr, w, wantErr)
			}
			for i := range g {
				gl, gc := got.FieldPos(i)
				wl, wc := want.FieldPos(i)
				if strings.TrimSpace(g[i]) != strings.TrimSpace(w[i]) || gl != wl || gc != wc && strings.TrimSpace(g[i]) != "" {
					t.Fatalf("%q: field %d is %q at %d:%d, want %q at %d:%d", text, i, g[i], gl, gc, w[i], wl, wc)
				}
			}
			if gotErr != nil {
				break
			}
		}
	}
	s, err := ParseTable("d.tsv", "x\ty\tz\n1\t\t3\n", Options{})
	if err != nil || s.Fault("y") == nil || s.Fault("z") != nil {
		t.Errorf("an empty field between tabs: %v, %v", s, err)
	}
}

// TestColumnKinds compares columns of mixed fields with their definition, applied to what
// encoding/csv reads. The sizes lie on both sides of those at which memory grows, and at which a
// column has too many texts to count them in the first pass.
func TestColumnKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	pools := [][]string{
		{"1", "-2", "30", "0"},
		{"1", "2.50", "-0.25", "1e3", "NaN", "12345678901234567890"},
		{"TRUE", "false"},
		{"a", "bb", "c c ", "true", "a"},
		{"a", "7", "b", "c"},
		{"a", "b", "NA"},
		{"x"},
		{"1", "TRUE", "b"},
	}
	for round := range 400 {
		n := []int{0, 1, 2, 3, 15, 16, 17, 40}[rng.IntN(8)]
		distinct := 0
		if round%40 == 0 {
			n, distinct = maxWords+round/40-2, maxWords-1+rng.IntN(3)
		}
		var b strings.Builder
		b.WriteString("p,q,r,s,t,u,v,w\n")
		for i := range n {
			for k, pool := range pools {
				field := pool[rng.IntN(len(pool))]
				if k == 6 && distinct > 0 {
					field = fmt.Sprintf("w%d", i%distinct)
				}
				if k > 0 {
					b.WriteString(",")
				}
				b.WriteString(field)
			}
			b.WriteString("\n")
		}
		rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseTable("d.csv", b.String(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, name := range rows[0] {
			checkKind(t, s, name, rows[1:], k)
		}
	}
}

// checkKind compares a column of a table with its fields.
func checkKind(t *testing.T, s *Set, name string, rows [][]string, k int) {
	t.Helper()
	integers, numbers, truths, missing, count := true, true, true, false, 0
	reals, levels := []float64{}, []string{}
	for _, row := range rows {
		field := strings.TrimSpace(row[k])
		x, err := strconv.ParseFloat(field, 64)
		_, notInteger := strconv.ParseInt(field, 10, 54)
		_, isTruth := truth[field]
		if err == nil {
			count++
		} else if isTruth {
			x = truth[field]
		}
		integers, numbers, truths = integers && notInteger == nil, numbers && err == nil, truths && isTruth
		missing = missing || field == "NA"
		reals, levels = append(reals, x), append(levels, field)
	}
	factor := !integers && !numbers && !truths
	faulty := missing || factor && count > len(rows)/2
	if fault := s.Fault(name); (fault != nil) != faulty {
		t.Fatalf("%s: the fault is %v, wanted %v, of %v", name, fault, faulty, levels)
	}
	if faulty {
		return
	}
	fields := slices.Clone(levels)
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if !factor {
		levels = nil
	}
	if got := s.Levels(name); !slices.Equal(got, levels) {
		t.Fatalf("%s has the levels %q, wanted %q", name, got, levels)
	}
	v, _ := s.Get(name)
	if v.IsInt != (integers || factor || !numbers && truths) {
		t.Fatalf("%s: integers %v, of %q", name, v.IsInt, fields)
	}
	for i, want := range reals {
		if factor {
			want = float64(slices.Index(levels, fields[i]) + 1)
		}
		got := 0.0
		if v.IsInt {
			got = float64(v.Ints[i])
		} else {
			got = v.Reals[i]
		}
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s: row %d is %v, wanted %v", name, i+1, got, want)
		}
	}
}
