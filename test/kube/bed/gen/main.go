// Command gen prints what only the Go sources of Kubernetes know about its built-in kinds, as JSON on stdout:
//
//	gen types             the struct of every served kind, field by field (reflection)
//	gen defaults TYPES    what the scheme's defaulting puts into absent fields; TYPES is the finished type table,
//	                      whose enums make the random objects realistic
//
// scripts/generate.ts runs it and merges the answers with those of a running kube-apiserver.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "types":
		return print(collectTypes())
	case len(args) == 2 && args[0] == "defaults":
		enums, err := readEnums(args[1])
		if err != nil {
			return err
		}
		return print(collectDefaults(enums))
	default:
		return fmt.Errorf("usage: gen types | gen defaults TYPES.json")
	}
}

func print(value any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
