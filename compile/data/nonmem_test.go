package data

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func readNONMEM(text string) (*Set, error) {
	return Declarations{Read: []string{"nonmem"}}.Parse(Options{}, nil, func(o Options) (*Set, error) { return Parse("events.csv", text, o) })
}

// TestNONMEM reads a data set with comments, missing values, a covariate and two subjects.
func TestNONMEM(t *testing.T) {
	s, err := readNONMEM("C,ID,Time,AMT,DV,MDV,WT,ADDL,II\n,7,0,100,.,1,70.5,1,12\n,7,1,.,5.1,0,70.5,.,.\nC,7,1.5,.,9,0,1,.,.\n,7,2,,6,1,70.5,.,NA\n,3,0,.,0.5,0,80,.,.\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{
		"nt": {4}, "nSubjects": {2}, "start": {1, 4}, "end": {3, 4}, "len": {3, 1}, "id": {1, 1, 1, 2}, "time": {0, 1, 2, 0},
		"amt": {100, 0, 0, 0}, "rate": {0, 0, 0, 0}, "ii": {12, 0, 0, 0}, "evid": {1, 0, 0, 0}, "cmt": {1, 1, 1, 1}, "addl": {1, 0, 0, 0},
		"ss": {0, 0, 0, 0}, "nObs": {2}, "iObs": {2, 4}, "cObs": {5.1, 0.5}, "WT": {70.5, 70.5, 70.5, 80},
	} {
		if v, ok := s.Get(name); !ok || !slices.Equal(v.Reals, want) {
			t.Errorf("%s is %v, want %v", name, v.Reals, want)
		}
	}
	if v, _ := s.Get("dv"); !math.IsNaN(v.Reals[0]) || v.Reals[2] != 6 {
		t.Errorf("dv is %v", v.Reals)
	}
	if got := s.Levels("id"); !slices.Equal(got, []string{"7", "3"}) {
		t.Errorf("subjects are %q", got)
	}
	// No subject column, no observation.
	s, err = readNONMEM("TIME,AMT\n0,100\n")
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Get("cObs"); !ok || v.Size() != 0 {
		t.Errorf("cObs is %v, want nothing", v.Reals)
	}
}

// TestNONMEMFaults checks that messages name the record and its subject.
func TestNONMEMFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "no records",
		"ID,TIME,AMT\n":                         "no records",
		"ID,AMT\n1,0\n":                         "no column TIME",
		"ID,TIME\n1,0\n.,1\n":                   "record 2: ID has no value",
		"ID,TIME\n1,0\n2,0\n1,1\n":              "record 3 (ID 1): the subject comes again",
		"ID,TIME\n1,0\n1,10:30\n":               "record 2 (ID 1): TIME is 10:30, which is no number",
		"ID,TIME\n1,0\n1,.\n":                   "record 2 (ID 1): TIME has no value",
		"ID,TIME\n5,2\n5,1\n":                   "record 2 (ID 5): TIME is 1, after 2",
		"ID,TIME,EVID\n1,0,5\n":                 "record 1 (ID 1): EVID is 5",
		"ID,TIME,EVID\n1,0,0.5\n":               "record 1 (ID 1): EVID is 0.5",
		"ID,TIME,EVID,AMT\n1,0,0,10\n":          "record 1 (ID 1): AMT is 10, but EVID is 0",
		"ID,TIME,AMT,RATE\n1,0,10,-2\n":         "record 1 (ID 1): RATE is -2",
		"ID,TIME,AMT,EVID\n1,0,-1,1\n":          "record 1 (ID 1): AMT is -1",
		"ID,TIME,AMT,CMT\n1,0,1,0\n":            "record 1 (ID 1): CMT is 0",
		"ID,TIME,AMT,SS,II\n1,0,1,3,12\n":       "record 1 (ID 1): SS is 3",
		"ID,TIME,AMT,SS,II\n1,0,1,1,.\n":        "record 1 (ID 1): SS is 1, but II is 0",
		"ID,TIME,AMT,ADDL\n1,0,1,2\n":           "record 1 (ID 1): ADDL is 2, and II is 0",
		"ID,TIME,AMT,RATE,SS\n1,0,5,2,1\n":      "record 1 (ID 1): SS is 1 and II is 0, but AMT is 5",
		"ID,TIME,AMT\n1,0,1\n1,2\n":             "",
		"ID,TIME,DV\n1,0,x\n":                   "record 1 (ID 1): DV is x, which is no number",
		"ID,TIME,MDV\n1,0,x\n":                  "record 1 (ID 1): MDV is x, which is no number",
		"ID,TIME,AMT,EVID\n1,4,1,1\n1,0,1,4\n":  "ok",
		"ID,TIME,AMT,RATE,SS,II\n1,0,0,5,1,.\n": "ok",
		"\ufeffid;time;dv\n@ note;;\n1;0;2\n":   "ok",
		"ID,TIME,WT\n1,0,.\n":                   "WT",
		"ID,TIME,SEX\n1,0,M\n":                  "SEX",
	} {
		s, err := readNONMEM(text)
		if want == "WT" || want == "SEX" {
			if err != nil || s.Fault(want) == nil || !strings.Contains(s.Fault(want).Message, "record 1 (ID 1): "+want) {
				t.Errorf("%q: %v, want a fault of %s", text, err, want)
			}
			continue
		}
		if ok := err == nil; ok != (want == "ok") || !ok && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := readNONMEM("time,y\n1,2\n"); err != nil {
		t.Error(err)
	}
	_, err := Declarations{Read: []string{"time=nonmem"}}.Parse(Options{}, nil, func(o Options) (*Set, error) { return Parse("events.csv", "time\n1\n", o) })
	if err == nil || !strings.Contains(err.Error(), "whole table") {
		t.Errorf("%v, want that nonmem is for the whole table", err)
	}
}
