package main

import (
	"os"
	"strings"
)

// placeless returns a text in which the directories of the machine that made it
// have names that mean the same on any: the checkout, the home directory and
// that of temporary files.
func placeless(text string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	names := []string{here + "/", "/weighstone/", here, "/weighstone", os.TempDir() + "/", "$TMPDIR/"}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		names = append(names, home+"/", "~/")
	}
	return strings.NewReplacer(names...).Replace(text), nil
}
