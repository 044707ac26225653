//go:build !race

package proto

const racing = false
