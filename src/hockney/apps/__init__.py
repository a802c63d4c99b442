"""Applications: small programs that are launched, checked, predicted and compared, each from one declaration."""
