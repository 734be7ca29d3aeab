package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is an option whose value is a number of bytes, such as 4000000, 500kB, 64MB or 1GiB.
type byteSize int64

var byteUnits = []struct {
	name string
	size float64
}{{"", 1}, {"b", 1}, {"k", 1e3}, {"kb", 1e3}, {"m", 1e6}, {"mb", 1e6}, {"g", 1e9}, {"gb", 1e9},
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tb", 1e12}, {"tib", 1 << 40}}

func (b *byteSize) Set(text string) error {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	for _, u := range byteUnits {
		if err == nil && strings.EqualFold(u.name, text[len(number):]) {
			if v *= u.size; v >= 1 && v <= math.MaxInt64/2 {
				*b = byteSize(v)
				return nil
			}
		}
	}
	return fmt.Errorf("write a size such as 4000000, 64MB or 1GiB")
}

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	for _, unit := range []string{"TiB", "GiB", "MiB", "kiB"} {
		var one byteSize
		if err := one.Set("1" + unit); err == nil && *b%one == 0 {
			return strconv.FormatInt(int64(*b/one), 10) + unit
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Type() string { return "size" }
