// Command sign signs the checksums of a release, and checks signatures. The format is that of
// minisign with Ed25519, so minisign can also check them:
// https://jedisct1.github.io/minisign/#signature-format.
//
//	sign key                     makes a key: prints the secret and the public key
//	sign sign FILE COMMENT       writes FILE.minisig with the secret in PPL_RELEASE_KEY
//	sign verify PUBLIC-KEY FILE  checks FILE.minisig
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
)

// keyVariable is the environment variable with the secret: 32 bytes in base64, the seed of the key.
const keyVariable = "PPL_RELEASE_KEY"

func main() {
	log.SetFlags(0)
	log.SetPrefix("sign: ")
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "key":
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		fmt.Printf("%s=%s\npublic key: %s\n", keyVariable, base64.StdEncoding.EncodeToString(key.Seed()), publicKey(key.Public().(ed25519.PublicKey)))
		return nil
	case len(args) == 3 && args[0] == "sign":
		key, err := secret(os.Getenv(keyVariable))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		return os.WriteFile(args[1]+".minisig", sign(key, text, args[2]), 0o666)
	case len(args) == 3 && args[0] == "verify":
		text, err := os.ReadFile(args[2])
		if err != nil {
			return err
		}
		signature, err := os.ReadFile(args[2] + ".minisig")
		if err != nil {
			return err
		}
		comment, err := verify(args[1], text, signature)
		if err == nil {
			fmt.Printf("%s is signed: %s\n", args[2], comment)
		}
		return err
	}
	return errors.New("usage: sign key | sign FILE COMMENT | verify PUBLIC-KEY FILE")
}

func secret(text string) (ed25519.PrivateKey, error) {
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s must have %d bytes in base64; sign key makes such", keyVariable, ed25519.SeedSize)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// algorithm is the code for Ed25519 signatures of the text itself, not of its hash.
const algorithm = "Ed"

// keyID returns the identifier of a key in signatures.
func keyID(key ed25519.PublicKey) []byte {
	sum := sha256.Sum256(key)
	return sum[:8]
}

// publicKey formats a key as in the second line of minisign's files and for its option -P.
func publicKey(key ed25519.PublicKey) string {
	return base64.StdEncoding.EncodeToString(append(append([]byte(algorithm), keyID(key)...), key...))
}

func sign(key ed25519.PrivateKey, text []byte, comment string) []byte {
	signature := ed25519.Sign(key, text)
	whole := append(append([]byte(algorithm), keyID(key.Public().(ed25519.PublicKey))...), signature...)
	global := ed25519.Sign(key, append(signature, comment...))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, "untrusted comment: signature of a release of ppl\n%s\ntrusted comment: %s\n%s\n", encode(whole), comment, encode(global))
}

// verify checks a signature, and returns its comment, which is also signed.
func verify(public string, text, signature []byte) (comment string, err error) {
	decode := base64.StdEncoding.DecodeString
	key, err := decode(public)
	if err != nil || len(key) != 2+8+ed25519.PublicKeySize || string(key[:2]) != algorithm {
		return "", errors.New("the public key is none of minisign's")
	}
	lines := strings.Split(string(signature), "\n")
	if len(lines) < 4 {
		return "", errors.New("the signature is none of minisign's")
	}
	comment, ok := strings.CutPrefix(lines[2], "trusted comment: ")
	whole, err1 := decode(lines[1])
	global, err2 := decode(lines[3])
	if !ok || err1 != nil || err2 != nil || len(whole) != 2+8+ed25519.SignatureSize {
		return "", errors.New("the signature is none of minisign's")
	}
	if string(whole[:10]) != string(key[:10]) {
		return "", errors.New("the signature is by another key")
	}
	pk, raw := ed25519.PublicKey(key[10:]), whole[10:]
	if !ed25519.Verify(pk, text, raw) {
		return "", errors.New("the signature is not that of this text")
	}
	if !ed25519.Verify(pk, append(raw, comment...), global) {
		return "", errors.New("the comment of the signature was changed")
	}
	return comment, nil
}
