package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
)

// TestSign checks that a signature is valid only for its text, its comment and its key.
func TestSign(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := secret(base64.StdEncoding.EncodeToString(key.Seed()) + "\n")
	if err != nil || !read.Equal(key) {
		t.Fatal(err)
	}
	text := []byte("sums\n")
	signature := sign(key, text, "ppl v1")
	if comment, err := verify(publicKey(public), text, signature); err != nil || comment != "ppl v1" {
		t.Errorf("%q, %v", comment, err)
	}
	for what, test := range map[string]struct {
		key             string
		text, signature string
	}{
		"another text":    {publicKey(public), "sums", string(signature)},
		"another comment": {publicKey(public), string(text), strings.Replace(string(signature), "ppl v1", "ppl v2", 1)},
		"another key":     {publicKey(other), string(text), string(signature)},
		"no key":          {"x", string(text), string(signature)},
		"no signature":    {publicKey(public), string(text), "x"},
		"a part of it":    {publicKey(public), string(text), string(signature[:len(signature)-8])},
	} {
		if _, err := verify(test.key, []byte(test.text), []byte(test.signature)); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	for _, bad := range []string{"", "AAAA", "?"} {
		if _, err := secret(bad); err == nil {
			t.Errorf("the key %q passes", bad)
		}
	}
}
