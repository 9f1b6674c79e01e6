"""The diagnosis as a screen: findings, symptoms, what nobody knows."""
