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
		"":                                           "no records",
		"ID,TIME,AMT\n":                              "no records",
		"ID,AMT\n1,0\n":                              "no column TIME",
		"ID,TIME\n1,0\n.,1\n":                        "record 2: ID has no value",
		"ID,TIME\n1,0\n2,0\n1,1\n":                   "record 3 (ID 1): the subject comes again",
		"ID,TIME\n1,0\n1,10:75\n":                    "record 2 (ID 1): TIME is 10:75, which is no time",
		"ID,TIME\n1,23:00\n1,1:00\n":                 "record 2 (ID 1): TIME is 1:00, after 23:00",
		"ID,DATE,TIME\n1,13/1/2024,8:00\n":           "record 1 (ID 1): DATE is 13/1/2024, which has day 1 in month 13",
		"ID,DATE,TIME\n1,.,8:00\n":                   "record 1 (ID 1): DATE has no value",
		"ID,DATE,TIME\n1,today,8:00\n":               "record 1 (ID 1): DATE is today, which is no date",
		"ID,DATE,TIME\n1,1/2/2024,-1\n":              "record 1 (ID 1): TIME is -1, which is no time",
		"ID,DATE,TIME\n1,1/3/2024,8\n1,1/2/2024,9\n": "record 2 (ID 1): TIME is -23, after 0",
		"ID,TIME\n1,0\n1,.\n":                        "record 2 (ID 1): TIME has no value",
		"ID,TIME\n5,2\n5,1\n":                        "record 2 (ID 5): TIME is 1, after 2",
		"ID,TIME,EVID\n1,0,5\n":                      "record 1 (ID 1): EVID is 5",
		"ID,TIME,EVID\n1,0,0.5\n":                    "record 1 (ID 1): EVID is 0.5",
		"ID,TIME,EVID,AMT\n1,0,0,10\n":               "record 1 (ID 1): AMT is 10, but EVID is 0",
		"ID,TIME,AMT,RATE\n1,0,10,-3\n":              "record 1 (ID 1): RATE is -3",
		"ID,TIME,AMT,RATE\n1,0,10,-2\n":              "ok",
		"ID,TIME,AMT,EVID\n1,0,-1,1\n":               "record 1 (ID 1): AMT is -1",
		"ID,TIME,AMT,CMT\n1,0,1,0\n":                 "record 1 (ID 1): CMT is 0",
		"ID,TIME,AMT,SS,II\n1,0,1,3,12\n":            "record 1 (ID 1): SS is 3",
		"ID,TIME,AMT,SS,II\n1,0,1,1,.\n":             "record 1 (ID 1): SS is 1, but II is 0",
		"ID,TIME,AMT,ADDL\n1,0,1,2\n":                "record 1 (ID 1): ADDL is 2, and II is 0",
		"ID,TIME,AMT,RATE,SS\n1,0,5,2,1\n":           "record 1 (ID 1): SS is 1 and II is 0, but AMT is 5",
		"ID,TIME,AMT\n1,0,1\n1,2\n":                  "",
		"ID,TIME,AMT,Dv,DV\n1,0,1,.,.\n":             "columns 4 and 5 are Dv and DV",
		"ID,TIME,TIME\n1,0,0\n":                      "columns 2 and 3 are TIME and TIME",
		"ID,TIME,DV\n1,0,x\n":                        "record 1 (ID 1): DV is x, which is no number",
		"ID;TIME;DV\n1;0;1,5\n":                      "record 1 (ID 1): DV is 1,5, which is no number",
		"ID,TIME,MDV\n1,0,x\n":                       "record 1 (ID 1): MDV is x, which is no number",
		"ID,TIME,AMT,EVID\n1,4,1,1\n1,0,1,4\n":       "ok",
		"ID,TIME,AMT,RATE,SS,II\n1,0,0,5,1,.\n":      "ok",
		"\ufeffid;time;dv\n@ note;;\n1;0;2\n":        "ok",
		"ID,TIME,WT\n1,0,.\n":                        "WT",
		"ID,TIME,SEX\n1,0,M\n":                       "SEX",
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
	if s, err := readNONMEM("time,WT,wt,WT\n1,2,3,4\n"); err != nil || s.Fault("WT") == nil || s.Fault("wt") != nil {
		t.Errorf("%v, want a fault of WT, which is there twice", err)
	}
	_, err := Declarations{Read: []string{"time=nonmem"}}.Parse(Options{}, nil, func(o Options) (*Set, error) { return Parse("events.csv", "time\n1\n", o) })
	if err == nil || !strings.Contains(err.Error(), "whole table") {
		t.Errorf("%v, want that nonmem is for the whole table", err)
	}
}

// TestNONMEMForms reads the same data in the forms that data sets have: dates and times of day,
// blanks, repeated headers, covariates that are written when they change.
func TestNONMEMForms(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string][]float64
	}{
		"time of day":     {"ID,TIME\n1,8:00\n1,9:30\n1,20:00:36\n2,7:15\n", map[string][]float64{"time": {0, 1.5, 12.01, 0}}},
		"dates":           {"ID,DATE,TIME,AMT\n1,2/28/2024,8:00,9\n1,3/1/2024,8:00,.\n2,1/1/2025,0:30,9\n", map[string][]float64{"time": {0, 48, 0}}},
		"years of a leap": {"ID,DAT1,TIME\n1,28-02-2023,8:00\n1,01-03-2023,7:00\n", map[string][]float64{"time": {0, 23}}},
		"DAT2":            {"ID,DAT2,TIME\n1,99/12/31,8:00\n1,00/1/1,8:00\n", map[string][]float64{"time": {0, 24}}},
		"DAT3":            {"ID,DAT3,TIME\n1,2024/31/12,8:00\n1,2025/1/1,8:00\n", map[string][]float64{"time": {0, 24}}},
		"ISO":             {"ID,DATE,TIME\n1,2024-02-01,8:00\n1,2024-02-02,8:00\n", map[string][]float64{"time": {0, 24}}},
		"day and hours":   {"ID,DATE,TIME\n1,1,8\n1,2,7.5\n", map[string][]float64{"time": {0, 23.5}}},
		"month and day":   {"ID,DATE,TIME\n1,1/31,8\n1,2/1,7.5\n", map[string][]float64{"time": {0, 23.5}}},
		"blanks":          {"TABLE NO.  1\n  ID TIME   DV\n 1 0.0E+00 .\n 1 1.0E+00 2.5\nID TIME DV\n", map[string][]float64{"nt": {2}, "time": {0, 1}, "cObs": {2.5}}},
		"marked header":   {"#ID,time,Amt\r\n1,0,5\r\n", map[string][]float64{"amt": {5}, "nSubjects": {1}}},
		"header after @":  {"\n@ID,TIME\n1,0\n2,0\n", map[string][]float64{"nSubjects": {2}}},
		"blank lines":     {"ID,TIME,AMT\n \t\n1,0,5\n\n ,,\n1,1,.\n   \n", map[string][]float64{"nt": {2}, "amt": {5, 0}}},
		"Fortran":         {"ID,TIME,AMT,DV\n1,0,1.0D+02,.\n1,2.5d-1,.,1E1\n", map[string][]float64{"amt": {100, 0}, "time": {0, 0.25}, "cObs": {10}}},
		"carried forward": {"ID,TIME,WT,SEX\n1,0,70,.\n1,1,.,1\n1,2,72,.\n2,0,80,2\n2,1,.,.\n", map[string][]float64{"WT": {70, 70, 72, 80, 80}, "SEX": {1, 1, 1, 2, 2}}},
		"observations":    {"ID,TIME,DVID,LLOQ,BLQ\n1,0,.,.,.\n1,1,1,0.5,0\n1,1,2,.,1\n", map[string][]float64{"DVID": {0, 1, 2}, "LLOQ": {0, 0.5, 0}, "BLQ": {0, 0, 1}}},
		"one record":      {"TIME\n3\n", map[string][]float64{"time": {3}, "nt": {1}}},
	} {
		s, err := readNONMEM(c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for variable, want := range c.want {
			v, _ := s.Get(variable)
			if len(v.Reals) != len(want) {
				t.Errorf("%s: %s is %v, want %v (%v)", name, variable, v.Reals, want, s.Fault(variable))
				continue
			}
			for i := range want {
				if math.Abs(v.Reals[i]-want[i]) > 1e-9 {
					t.Errorf("%s: %s is %v, want %v", name, variable, v.Reals, want)
					break
				}
			}
		}
	}
	// A covariate that changes has no value before its first one.
	s, err := readNONMEM("ID,TIME,WT\n1,0,.\n1,1,70\n1,2,71\n")
	if err != nil || s.Fault("WT") == nil || !strings.Contains(s.Fault("WT").Message, "record 1 (ID 1): WT has no value") {
		t.Errorf("%v, want a fault of WT", err)
	}
}
