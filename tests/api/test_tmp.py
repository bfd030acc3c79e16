def test_it(registry):
    print(registry.search())
