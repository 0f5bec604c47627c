"""Which environment is meant, where its interpreter looks, and which pip is its own."""
