// Command weighstone-worker is one process of a process architecture. The
// master starts it, for some architectures anew for each connection; so it is
// kept small: it links no engine but this project's own, no command line
// parser and nothing of the benchmark.
package main

import (
	"fmt"
	"os"

	"github.com/weighstone/weighstone/cmd/internal/inside"
	"github.com/weighstone/weighstone/cmd/internal/worker"
)

func main() {
	if err := worker.Run(os.Args[1:], worker.Engines(), inside.Parts, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "weighstone-worker: %v\n", err)
		os.Exit(1)
	}
}
