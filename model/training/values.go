package training

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Keys returns the keys of a step's values, such as parallel.data.
func Keys() []string { return keysOf(reflect.TypeFor[Step](), "") }

func keysOf(t reflect.Type, prefix string) (keys []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("yaml")
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, key+".")...)
		} else {
			keys = append(keys, key)
		}
	}
	return keys
}

// FindKey returns the key that a name is the end of, such as parallel.data for data. It returns ""
// if there is none, and an error if there are several.
func FindKey(name string) (string, error) {
	var found []string
	for _, key := range Keys() {
		if key == name {
			return key, nil
		}
		if strings.HasSuffix(key, "."+name) {
			found = append(found, key)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s is one of %s: write the whole key", name, strings.Join(found, ", "))
}

// SetValue returns the text of a step with another value of a key.
func SetValue(text []byte, key, value string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document.Kind != yaml.DocumentNode || !slices.Contains(Keys(), key) {
		return nil, fmt.Errorf("a step has no key %s", key)
	}
	at := document.Content[0]
	words := strings.Split(key, ".")
	for i, word := range words {
		next := (*yaml.Node)(nil)
		for k := 0; k+1 < len(at.Content); k += 2 {
			if at.Content[k].Value == word {
				next = at.Content[k+1]
			}
		}
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode}
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: word}, next)
		}
		if i == len(words)-1 {
			*next = yaml.Node{Kind: yaml.ScalarNode, Value: value}
		}
		at = next
	}
	return yaml.Marshal(&document)
}
