//! Sequences as data of serde.

use constformer::Sequence;

#[test]
fn a_sequence_is_a_list_of_tokens() {
    let mut x = Sequence::<3, 4>::new();
    assert_eq!(serde_json::to_string(&x).unwrap(), "[]");
    x.push(&[1.0, -0.5, 2.0]).unwrap();
    x.push(&[0.25, 0.0, 3.0]).unwrap();
    let text = serde_json::to_string(&x).unwrap();
    assert_eq!(text, "[[1.0,-0.5,2.0],[0.25,0.0,3.0]]");
    assert_eq!(serde_json::from_str::<Sequence<3, 4>>(&text).unwrap(), x);
    assert_eq!(serde_json::from_str::<Sequence<3, 2>>(&text).unwrap(), x, "the capacity is no part of the data");
    assert_eq!(serde_json::from_str::<Sequence<0, 4>>("[[],[]]").unwrap().len(), 2);
}

#[test]
fn what_does_not_fit_is_told() {
    let error = |text| serde_json::from_str::<Sequence<3, 2>>(text).unwrap_err().to_string();
    for (text, expected) in [
        ("[[1,2,3],[4,5,6],[7,8,9]]", "3 tokens, where there is room for 2"),
        ("[[1,2]]", "invalid length 2, expected a token of 3 numbers"),
        ("[[1,2,3,4]]", "invalid length 4, expected a token of 3 numbers"),
        ("[1,2,3]", "invalid type: integer `1`, expected a token of 3 numbers"),
        ("{}", "invalid type: map, expected at most 2 tokens of 3 numbers"),
        ("[[1,2,\"3\"]]", "invalid type: string \"3\", expected f32"),
        ("[[1,2,3]", "EOF while parsing a list"),
    ] {
        assert!(error(text).starts_with(expected), "{text}: {}", error(text));
    }
}
