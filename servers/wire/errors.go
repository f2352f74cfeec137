package wire

import "errors"

// errCutOff says that a body ended before its announced or proper end, so that
// the reply must not look complete.
var errCutOff = errors.New("send reply: body ended early")
