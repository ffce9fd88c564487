//go:build race

package handlersocket

// The race detector takes long for each byte: what is large is made smaller.
func init() { shrink = 5 }
