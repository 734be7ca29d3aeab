package main

import (
	"testing"

	brief "github.com/ppl-lang/ppl/internal/short"
)

func TestMain(m *testing.M) { brief.Main(m) }
