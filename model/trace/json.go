package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readJSON reads the JSON forms of a trace: an object with a list workload_graph, or the messages
// of the protobuf form as one object after the other. Names of keys are compared without case and
// underscores, as both forms write them differently.
func readJSON(in io.Reader, name string) ([]traceNode, error) {
	var nodes []traceNode
	isTrace := false
	decoder := json.NewDecoder(in)
	for count := 0; ; count++ {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if err == io.EOF && count > 0 {
			if !isTrace {
				return nil, fmt.Errorf("%s: it has no node, and neither a list workload_graph nor metadata of a trace", name)
			}
			return nodes, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the file ends within an object: it is cut short")
			}
			return nil, fmt.Errorf("%s: byte %d: %w", name, decoder.InputOffset(), err)
		}
		found, isOfTrace, err := nodesOfJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		isTrace = isTrace || isOfTrace
		nodes = append(nodes, found...)
	}
}

// nodesOfJSON returns the nodes of a list, of an object that has a list of them, or of a node. The
// object of metadata has none. isOfTrace says that it is one of these.
func nodesOfJSON(raw json.RawMessage) (nodes []traceNode, isOfTrace bool, err error) {
	var list []json.RawMessage
	object := map[string]json.RawMessage{}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, false, err
		}
		isOfTrace = true
	} else if err := json.Unmarshal(raw, &object); err != nil {
		return nil, false, err
	}
	for key, text := range object {
		switch canonicalKey(key) {
		case "workloadgraph", "nodes":
			if err := json.Unmarshal(text, &list); err != nil {
				return nil, false, fmt.Errorf("%s: %w", key, err)
			}
		case "nodetype", "type":
			list = []json.RawMessage{raw}
		case "schema", "version", "attr":
		default:
			continue
		}
		isOfTrace = true
	}
	nodes = make([]traceNode, 0, len(list))
	for i, text := range list {
		n, err := nodeOfJSON(text)
		if err != nil {
			return nil, false, fmt.Errorf("node %d (number %d): %w", n.id, i+1, err)
		}
		nodes = append(nodes, n)
	}
	return nodes, isOfTrace, nil
}

func canonicalKey(key string) string {
	return strings.ToLower(strings.ReplaceAll(key, "_", ""))
}

// nodeTypeNames are the names of node types in JSON.
var nodeTypeNames = [numNodeTypes]string{
	"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
	"STORAGE_NODE", "BATCH_NODE", "CHECKPOINT_NODE",
}

// attributeKeys are the attributes that the form with workload_graph has as keys of a node.
var attributeKeys = map[string]string{}

func init() {
	for _, name := range []string{"is_cpu_op", "tid", "stream", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "comm_root", "num_ops", "pg_name", "comm_group", "involved_dim"} {
		attributeKeys[canonicalKey(name)] = name
	}
}

func nodeOfJSON(raw json.RawMessage) (traceNode, error) {
	n := newNode()
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &object); err != nil {
		return n, err
	}
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys) // the first error does not depend on the order of a map
	for _, key := range keys {
		text := object[key]
		var err error
		switch canonical := canonicalKey(key); canonical {
		case "id":
			n.id, err = unsignedOfJSON(text)
		case "name":
			err = json.Unmarshal(text, &n.name)
		case "nodetype", "type":
			n.kind, err = nodeTypeOfJSON(text)
		case "ctrldeps":
			n.control, err = numbersOfJSON(text)
		case "datadeps":
			n.data, err = numbersOfJSON(text)
		case "starttimemicros":
			n.hasStart = true
			n.start, err = unsignedOfJSON(text)
		case "durationmicros", "runtime":
			n.duration, err = unsignedOfJSON(text)
		case "inputs":
			n.inputs = string(text)
		case "attr":
			err = n.attributesOfJSON(text)
		default:
			if name, known := attributeKeys[canonical]; known {
				err = n.setAttribute(name, valueOfJSON(text))
			}
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", key, err)
		}
	}
	if !n.listsGroups() {
		n.inputs = ""
	}
	return n, nil
}

// attributesOfJSON reads the list attr, whose values are under a key such as int64Val.
func (n *traceNode) attributesOfJSON(raw json.RawMessage) error {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, attribute := range list {
		var name string
		var v attributeValue
		for key, text := range attribute {
			switch canonical := canonicalKey(key); {
			case canonical == "name":
				if err := json.Unmarshal(text, &name); err != nil {
					return err
				}
			case strings.HasSuffix(canonical, "val"):
				v = valueOfJSON(text)
			case canonical == "boollist":
				v.someFalse = bytes.Contains(text, []byte("false"))
			}
		}
		if err := n.setAttribute(name, v); err != nil {
			return err
		}
	}
	return nil
}

// unsignedOfJSON returns a number that may be written as a text.
func unsignedOfJSON(raw json.RawMessage) (uint64, error) {
	x, err := strconv.ParseUint(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40s is no whole number of 0 or more", raw)
	}
	return x, nil
}

func numbersOfJSON(raw json.RawMessage) ([]uint64, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	numbers := make([]uint64, len(list))
	for i, item := range list {
		var err error
		if numbers[i], err = unsignedOfJSON(item); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// valueOfJSON returns a value: a number, also as a text, a truth value, a text or a list.
func valueOfJSON(raw json.RawMessage) attributeValue {
	text := strings.Trim(string(raw), `"`)
	switch {
	case text == "true" || text == "false":
		v := attributeValue{isNumber: true}
		if text == "true" {
			v.number = 1
		}
		return v
	case strings.HasPrefix(text, "["):
		return attributeValue{someFalse: strings.Contains(text, "false")}
	}
	if x, err := strconv.ParseInt(text, 10, 64); err == nil {
		return attributeValue{isNumber: true, number: x, text: text}
	}
	return attributeValue{text: text}
}

func nodeTypeOfJSON(raw json.RawMessage) (nodeType, error) {
	if i := slices.Index(nodeTypeNames[:], strings.Trim(string(raw), `"`)); i >= 0 {
		return nodeType(i), nil
	}
	x, err := unsignedOfJSON(raw)
	return nodeType(x), err
}
