"""What tests build their small worlds from."""
