package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// specwebQuery is what names a file of the SPECweb99-style set; nothing else may
// be opened, or told in a page.
var specwebQuery = regexp.MustCompile(`\Afile=(dir[0-9]{5}/class[0-3]_[0-8])\z`)

// specweb answers with a page that tells a few facts of the request and holds a
// file of the set.
func specweb(x *exchange) error {
	query := x.variables["QUERY_STRING"]
	match := specwebQuery.FindStringSubmatch(query)
	if match == nil {
		return x.refuse("400 Bad Request")
	}
	file, err := os.Open(filepath.Join(x.variables["DOCUMENT_ROOT"], "specweb", match[1]))
	if err != nil {
		return x.refuse("404 Not Found")
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return x.refuse("404 Not Found")
	}
	const end = "</pre>\n</body></html>\n"
	head := fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\"><head><title>SPECweb99-style</title></head><body><pre>\n"+
		"SERVER_SOFTWARE %s\nREMOTE_ADDR %s\nSCRIPT_NAME %s\nQUERY_STRING %s\n</pre>\n<pre>\n",
		x.variables["SERVER_SOFTWARE"], x.variables["REMOTE_ADDR"], x.variables["SCRIPT_NAME"], query)
	fmt.Fprintf(x.out, "Content-type: text/html\r\nContent-Length: %d\r\n\r\n%s", int64(len(head)+len(end))+info.Size(), head)
	if _, err := io.CopyN(x.out, file, info.Size()); err != nil {
		return err
	}
	_, err = x.out.WriteString(end)
	return err
}

func (x *exchange) refuse(status string) error {
	_, err := fmt.Fprintf(x.out, "Status: %s\r\nContent-type: text/plain; charset=utf-8\r\n\r\n%s\n", status, status)
	return err
}
