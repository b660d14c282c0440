package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// Key is an admitted key of a published set, valid for Begins <= timestamp < Ends.
type Key struct {
	Public       ed25519.PublicKey
	Begins, Ends float64
}

var (
	errSet    = errors.New("not a JWK Set of at most 100 keys")
	publicKey = regexp.MustCompile(`^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$`)
	one       = big.NewInt(1)
	p         = new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	order     = number("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed")
	// The y coordinates of the points of small order.
	smallOrder = []*big.Int{
		new(big.Int), one, new(big.Int).Sub(p, one),
		number("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7"),
		number("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826"),
	}
	d = mod(new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p)))
)

// ReadKeySet reads a published set (SPEC.md, K1 to K11). Members are read by their exact names: decoding into a
// struct would ignore case.
func ReadKeySet(document []byte) ([]Key, error) {
	var set map[string]json.RawMessage
	var jwks []map[string]any
	if json.Unmarshal(document, &set) != nil || set["keys"] == nil || set["keys"][0] != '[' {
		return nil, errSet
	}
	// Numbers stay text: one beyond the range of a double must exclude its key and not the set (K7).
	decoder := json.NewDecoder(bytes.NewReader(set["keys"]))
	decoder.UseNumber()
	if decoder.Decode(&jwks) != nil || len(jwks) > 100 {
		return nil, errSet
	}
	keys, taken := []Key{}, map[string]bool{}
	for _, jwk := range jwks {
		if jwk == nil {
			return nil, errSet
		}
		if key, ok := readKey(jwk); ok && !taken[string(key.Public)] {
			keys, taken[string(key.Public)] = append(keys, key), true
		}
	}
	return keys, nil
}

func readKey(jwk map[string]any) (Key, bool) {
	x, _ := jwk["x"].(string)
	_, d := jwk["d"]
	_, k := jwk["k"]
	_, priv := jwk["priv"]
	encoded, err := base64.RawURLEncoding.DecodeString(x)
	if !isOurs(jwk) || d || k || priv || !publicKey.MatchString(x) || err != nil {
		return Key{}, false
	}
	digest := sha256.Sum256([]byte(fmt.Sprintf(`{"crv":"Ed25519","kty":"OKP","x":"%s"}`, x)))
	begins, isTime := bound(jwk, "nbf", -1)
	ends, isEnd := bound(jwk, "exp", math.Inf(1))
	named := is(jwk, "kid", base64.RawURLEncoding.EncodeToString(digest[:]))
	return Key{encoded, begins, ends}, isTime && isEnd && begins < ends && named && isAdmitted(encoded)
}

// is reports whether a member is absent or one of these strings. A null member counts as present.
func is(jwk map[string]any, name string, texts ...string) bool {
	value, present := jwk[name]
	for _, text := range texts {
		present = present && value != text
	}
	return !present
}

func isOurs(jwk map[string]any) bool {
	operations, present := jwk["key_ops"]
	list, _ := operations.([]any)
	for _, operation := range list {
		present = present && operation != "verify"
	}
	alike := is(jwk, "use", "sig") && is(jwk, "alg", "EdDSA", "Ed25519")
	return jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519" && alike && !present
}

func bound(jwk map[string]any, name string, absent float64) (float64, bool) {
	value, present := jwk[name]
	if !present {
		return absent, true
	}
	text, isNumber := value.(json.Number)
	number, err := strconv.ParseFloat(string(text), 64)
	return number, isNumber && err == nil && number >= 0
}

// Verifies implements B3 to B5: crypto/ed25519 compares the encoding of R and leaves the other checks to the caller.
func (k Key) Verifies(signature, signed []byte) bool {
	isJudgeable := !isSmallOrder(signature[:32]) && littleEndian(signature[32:]).Cmp(order) < 0
	return isJudgeable && ed25519.Verify(k.Public, signed, signature)
}

// isSmallOrder recognizes the 14 encodings by their five values of y modulo p.
func isSmallOrder(encoded []byte) bool {
	y, found := mod(yOf(encoded)), false
	for _, listed := range smallOrder {
		found = found || y.Cmp(listed) == 0
	}
	return found
}

func yOf(encoded []byte) *big.Int {
	return littleEndian(append(append([]byte(nil), encoded[:31]...), encoded[31]&0x7f))
}

func littleEndian(encoded []byte) *big.Int {
	reversed := make([]byte, len(encoded))
	for i, b := range encoded {
		reversed[len(encoded)-1-i] = b
	}
	return new(big.Int).SetBytes(reversed)
}

func number(hex string) *big.Int { n, _ := new(big.Int).SetString(hex, 16); return n }

func mod(x *big.Int) *big.Int { return x.Mod(x, p) }

func mul(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }

func div(a, b *big.Int) *big.Int { return mul(a, new(big.Int).ModInverse(mod(b), p)) }

// point is affine. Checking a key takes about 20 ms, once per key.
type point struct{ x, y *big.Int }

func add(a, b point) point {
	xx, yy := mul(a.x, b.x), mul(a.y, b.y)
	cross := mul(d, mul(xx, yy))
	x := new(big.Int).Add(mul(a.x, b.y), mul(b.x, a.y))
	return point{div(x, new(big.Int).Add(one, cross)), div(xx.Add(xx, yy), new(big.Int).Sub(one, cross))}
}

// isAdmitted implements K11: the key is canonical, on the curve, and of prime order.
func isAdmitted(encoded []byte) bool {
	y := yOf(encoded)
	square := mul(y, y)
	x := div(new(big.Int).Sub(square, one), new(big.Int).Add(mul(d, square), one))
	if y.Cmp(p) >= 0 || isSmallOrder(encoded) || x.ModSqrt(x, p) == nil {
		return false
	}
	if x.Bit(0) != uint(encoded[31]>>7) {
		x.Sub(p, x)
	}
	sum, each := point{new(big.Int), one}, point{x, y}
	for i := order.BitLen() - 1; i >= 0; i-- {
		if sum = add(sum, sum); order.Bit(i) == 1 {
			sum = add(sum, each)
		}
	}
	return sum.x.Sign() == 0 && sum.y.Cmp(one) == 0
}
