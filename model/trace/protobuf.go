package trace

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxMessageBytes is the most bytes of a node. Real ones have some hundreds.
const maxMessageBytes = 16 << 20

// readProtobuf reads messages that follow their length: a GlobalMetadata, then one Node each.
func readProtobuf(in *bufio.Reader, name string) ([]traceNode, error) {
	var nodes []traceNode
	var message []byte
	for count := 0; ; count++ {
		length, err := binary.ReadUvarint(in)
		if err == io.EOF && count > 0 {
			return nodes, nil
		}
		describe := func(err error) error {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the file ends within it: it is cut short")
			}
			return fmt.Errorf("%s: message %d: %w", name, count, err)
		}
		if err != nil {
			return nil, describe(err)
		}
		if length > maxMessageBytes {
			return nil, describe(fmt.Errorf("it claims %d bytes, and a node has at most %d: this is no Chakra trace, or it is damaged", length, maxMessageBytes))
		}
		if message = append(message[:0], make([]byte, length)...); length > 0 {
			if _, err := io.ReadFull(in, message); err != nil {
				return nil, describe(err)
			}
		}
		if count == 0 {
			if err := checkMetadata(message); err != nil {
				return nil, describe(err)
			}
			continue
		}
		n, err := decodeNode(message)
		if err != nil {
			return nil, describe(err)
		}
		nodes = append(nodes, n)
	}
}

// checkMetadata checks that the first message can be a GlobalMetadata.
func checkMetadata(message []byte) error {
	err := eachField(message, func(f protobufField) error {
		if f.number > 2 || f.kind != protowire.BytesType {
			return fmt.Errorf("field %d is none of metadata", f.number)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("it is not the metadata of a Chakra trace: %w", err)
	}
	return nil
}

// protobufField is a field of a message.
type protobufField struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64 // also of a fixed number
	bytes  []byte
}

// eachField calls a function with each field of a message.
func eachField(message []byte, do func(protobufField) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		f := protobufField{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.varint, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(message)
			f.varint = uint64(x)
		case protowire.Fixed64Type:
			f.varint, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(n))
		}
		if err := do(f); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// decodeNode reads a Node.
func decodeNode(message []byte) (traceNode, error) {
	n := newNode()
	err := eachField(message, func(f protobufField) error {
		if isNumber := f.number == 1 || f.number == 3 || f.number == 6 || f.number == 7; isNumber && f.kind != protowire.VarintType {
			return fmt.Errorf("node %d: field %d is no number", n.id, f.number)
		}
		switch f.number {
		case 1:
			n.id = f.varint
		case 2:
			n.name = string(f.bytes)
		case 3:
			n.kind = nodeType(f.varint)
		case 4:
			return n.addDependencies(&n.control, f)
		case 5:
			return n.addDependencies(&n.data, f)
		case 6:
			n.start, n.hasStart = f.varint, true
		case 7:
			n.duration = f.varint
		case 8:
			n.inputs = string(f.bytes)
		case 10:
			return n.decodeAttribute(f.bytes)
		}
		return nil
	})
	if !n.listsGroups() {
		n.inputs = ""
	}
	return n, err
}

// addDependencies adds dependencies, packed or not.
func (n *traceNode) addDependencies(to *[]uint64, f protobufField) error {
	if f.kind == protowire.VarintType {
		*to = append(*to, f.varint)
		return nil
	}
	for list := f.bytes; len(list) > 0; {
		id, size := protowire.ConsumeVarint(list)
		if size < 0 {
			return fmt.Errorf("node %d: its dependencies: %w", n.id, protowire.ParseError(size))
		}
		*to = append(*to, id)
		list = list[size:]
	}
	return nil
}

// decodeAttribute reads an AttributeProto. Its value is in a field of its type: 3 + 2·type.
func (n *traceNode) decodeAttribute(message []byte) error {
	var name string
	var v attributeValue
	err := eachField(message, func(f protobufField) error {
		switch f.number {
		case 1:
			name = string(f.bytes)
		case 2: // a description
		case 3:
			v.isNumber, v.number = true, int64(math.Float64frombits(f.varint))
		case 5:
			v.isNumber, v.number = true, int64(math.Float32frombits(uint32(f.varint)))
		case 15, 17:
			v.isNumber, v.number = true, protowire.DecodeZigZag(f.varint)
		case 23:
			v.isNumber, v.number = true, int64(int32(f.varint))
		case 7, 9, 11, 13, 19, 21, 25, 27:
			v.isNumber, v.number = true, int64(f.varint)
		case 28:
			return eachField(f.bytes, func(list protobufField) error {
				v.someFalse = v.someFalse || list.kind == protowire.VarintType && list.varint == 0
				for _, b := range list.bytes {
					v.someFalse = v.someFalse || b == 0
				}
				return nil
			})
		case 29, 31:
			v.text = string(f.bytes)
		}
		return nil
	})
	if err == nil {
		err = n.setAttribute(name, v)
	}
	if err != nil {
		return fmt.Errorf("node %d: %w", n.id, err)
	}
	return nil
}
