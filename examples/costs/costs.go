// SPDX-License-Identifier: MIT
// Adds up what the turns of each agent have cost, in the file `costs`, as JSON.
//
// Build: go build -buildmode=c-shared -o costs.so
// Instance: costs = { };
//
// The runtime of Go needs a process of its own, which is the default of an instance.
package main

// #cgo pkg-config: turncast
import "C"

import (
	"encoding/json"
	"os"
)

const file = "costs"

func costs() (map[string]float64, error) {
	sums := map[string]float64{}
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return sums, nil
	}
	if err != nil {
		return nil, err
	}
	return sums, json.Unmarshal(text, &sums)
}

// The file is replaced as a whole, so a crash cannot leave half of it.
func add(agent string, usd float64) error {
	sums, err := costs()
	if err != nil {
		return err
	}
	sums[agent] += usd
	text, err := json.Marshal(sums)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

//export costs_add
func costs_add(agent *C.char, usd C.double) C.int {
	if err := add(C.GoString(agent), float64(usd)); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return -1
	}
	return 0
}

func main() {}
