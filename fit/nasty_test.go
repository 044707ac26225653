package fit

// Nasty is for tests from without.
var Nasty = nasty
