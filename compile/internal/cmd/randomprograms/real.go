package main

import "errors"

func (o options) real(seed uint64) (text, values string, err error) {
	return "", "", errors.New("todo")
}
