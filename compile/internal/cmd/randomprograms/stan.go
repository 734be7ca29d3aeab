package main

import "errors"

func againstStan(o options) error { return errors.New("todo") }
